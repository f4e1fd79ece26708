-- Keeps a new token's hash; the token itself is kept nowhere. One look at the clock decides both ends of its life.
with clock as materialized (select jobs.now() as now)

insert into jobs.tokens (person, hash, label, role, tenants, created_at, expires_at)
select
    %(person)s,
    %(hash)s,
    %(label)s,
    %(role)s,
    %(tenants)s::text[],
    clock.now,
    clock.now + make_interval(secs => %(seconds)s) as expires_at
from clock
returning id, expires_at
