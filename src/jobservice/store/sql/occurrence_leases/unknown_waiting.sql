-- Locks occurrences that have been due for long and that this Worker's records do not run here.
select
    w.id,
    w.tenant,
    w.schedule,
    w.attempts,
    extract(epoch from jobs.now() - w.due_at)::float8 as since
from jobs.tenants as t
cross join lateral (
    select
        o.id,
        o.tenant,
        o.schedule,
        o.attempts,
        o.due_at
    from jobs.occurrences as o
    where
        o.tenant = t.id
        and o.state = 'scheduled'
        and o.due_at <= (select jobs.now()) - make_interval(secs => %(unknown_after)s)
        and not (
            o.schedule = any(%(everywhere)s::text[])
            or o.tenant || ' ' || o.schedule = any(%(somewhere)s::text[])
        )
    order by o.due_at, o.id
    limit %(most)s
    for update of o skip locked
) as w
