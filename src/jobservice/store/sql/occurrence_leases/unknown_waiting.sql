-- Locks occurrences that have been due for long and that this Worker's records do not run here. Due counts from when
-- the row was made: what is made up was due long before that. When that was, its id says: its first 48 bits are
-- milliseconds (uuid7).
select
    w.id,
    w.tenant,
    w.schedule,
    w.attempts,
    extract(epoch from jobs.now() - greatest(w.due_at, w.made_at))::float8 as since
from jobs.tenants as t
cross join lateral (
    select
        o.id,
        o.tenant,
        o.schedule,
        o.attempts,
        o.due_at,
        m.made_at
    from jobs.occurrences as o
    cross join
        lateral (
            select to_timestamp(('x' || left(replace(o.id::text, '-', ''), 12))::bit(48)::bigint / 1000.0) as made_at
        ) as m
    where
        o.tenant = t.id
        and o.state = 'scheduled'
        and o.due_at <= (select jobs.now()) - make_interval(secs => %(unknown_after)s)
        and m.made_at <= (select jobs.now()) - make_interval(secs => %(unknown_after)s)
        and not (
            o.schedule = any(%(everywhere)s::text[])
            or o.tenant || ' ' || o.schedule = any(%(somewhere)s::text[])
        )
    order by o.due_at, o.id
    limit %(most)s
    for update of o skip locked
) as w
