-- How much of a tenant waits for somebody, or runs: each counted to a most. Workers are the service's.
with clock as materialized (
    select %(now)s::timestamptz as now
),

processes as (
    select
        count(*) filter (where k.lives and not k.drains) as live,
        count(*) filter (where k.lives and k.drains) as draining,
        count(*) filter (where not k.lives) as silent
    from (
        select
            w.beat_at >= c.now - make_interval(secs => %(silent)s) as lives,
            w.draining_at is not null or w.drain_asked_at is not null as drains
        from jobs.workers as w
        cross join clock as c
        where w.stopped_at is null and w.beat_at > c.now - make_interval(secs => %(keep)s)
    ) as k
)

select
    p.live,
    p.draining,
    p.silent,
    (
        select count(*)
        from (
            select 1 as one
            from jobs.occurrences as o
            where o.tenant = %(tenant)s and o.state = 'dead-letter' and o.discarded_at is null
            limit %(most)s -- noqa: AM09
        ) as g
    ) as dead,
    (
        select count(*)
        from (
            select 1 as one
            from jobs.occurrences as o
            where o.tenant = %(tenant)s and o.state = 'scheduled' and o.attempts > 0
            limit %(most)s -- noqa: AM09
        ) as g
    ) as retrying,
    (
        select count(*)
        from jobs.occurrences as o
        where o.tenant = %(tenant)s and o.holder is not null
    ) as processing,
    (
        select count(*)
        from jobs.recoveries as r
        where
            r.tenant = %(tenant)s
            and (r.state in ('applying', 'paused') or (r.state = 'open' and r.valid_until > c.now))
    ) as recoveries,
    (
        select count(*)
        from jobs.plans as n
        where
            n.tenant = %(tenant)s
            and (n.state in ('armed', 'applying', 'paused') or (n.state = 'open' and n.valid_until > c.now))
    ) as plans
from clock as c
cross join processes as p
