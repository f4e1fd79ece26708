-- What could start now: per tenant how many occurrences (at least), and since when the first was due, the tenant that
-- waits longest first; whether a lease ran out, whether one is to be cancelled; seconds until the next is due. One row
-- at least. `since`: nothing that waits was due before it, of the tenants named and of all others: the entries before
-- it in the index are dead, and an old transaction may keep them for hours (case PG-06).
-- What runs under a lock is asked for as a range and in order: only the index on locks gives that, whatever the
-- statistics say of rows that come and go by the thousand. What waits of a tenant that is stopped, or of a schedule
-- that is switched off, cannot start; it is seen as what waits longest all the same. Both are read once a tenant, as
-- jobs.stopped and jobs.switched_off say it (a call of a function costs more than what it reads).
with clock as materialized (
    select jobs.now() as now
),

heads as materialized (
    select
        t.id as tenant,
        coalesce(h.since, %(since)s::timestamptz) as since
    from jobs.tenants as t
    left join unnest(%(tenants)s::text[], %(heads)s::timestamptz[]) as h (tenant, since) on t.id = h.tenant
),

busy as materialized (
    select
        h.tenant,
        h.since,
        d.due_at as oldest,
        least(%(free)s, greatest(4, 8 * %(free)s / count(*) over ()))::integer as most,
        exists(
            select 1
            from jobs.stops as p
            where p.tenant = h.tenant and p.scope = 'tenant'
        ) as stopped,
        array(
            select s.schedule
            from jobs.schedules as s
            where
                s.tenant = h.tenant
                and s.disabled_at is not null
                and (s.disabled_until is null or s.disabled_until > c.now)
        ) as off
    from heads as h
    cross join clock as c
    cross join lateral (
        select o.due_at
        from jobs.occurrences as o
        where o.tenant = h.tenant and o.state = 'scheduled' and o.due_at >= h.since and o.due_at <= c.now
        order by o.due_at, o.id
        limit 1
    ) as d
),

startable as (
    select
        b.tenant,
        w.due_at
    from busy as b
    cross join clock as c
    cross join lateral (
        select o.due_at
        from jobs.occurrences as o
        where
            not b.stopped
            and o.tenant = b.tenant
            and o.state = 'scheduled'
            and o.due_at >= b.since
            and o.due_at <= c.now
            and (o.miss_at is null or o.miss_at > c.now)
            and o.cancel_asked_at is null
            and o.schedule <> all(b.off)
            and (
                o.schedule = any(%(everywhere)s::text[])
                or o.tenant || ' ' || o.schedule = any(%(somewhere)s::text[])
            )
            and (
                select r.lock
                from jobs.occurrences as r
                where r.tenant = o.tenant and r.lock >= o.lock and r.lock <= o.lock and r.holder is not null
                order by r.tenant, r.lock
                limit 1
            ) is null
        order by o.due_at, o.id
        limit b.most
    ) as w
),

counted as (
    select
        s.tenant,
        count(*)::integer as number
    from startable as s
    group by s.tenant
),

waiting as (
    select
        b.tenant,
        b.oldest,
        coalesce(n.number, 0) as number
    from busy as b
    left join counted as n on b.tenant = n.tenant
),

coming as (
    select min(n.due_at) as due_at
    from heads as h
    cross join clock as c
    cross join lateral (
        select o.due_at
        from jobs.occurrences as o
        where o.tenant = h.tenant and o.state = 'scheduled' and o.due_at > c.now
        order by o.due_at
        limit 1
    ) as n
),

flags as materialized (
    select
        coalesce((
            select true
            from jobs.occurrences as p
            where p.state = 'processing' and p.expires_at >= %(lapsed_since)s::timestamptz and p.expires_at <= c.now
            order by p.expires_at
            limit 1
        ), false) as lapsed,
        coalesce((
            select true
            from jobs.occurrences as k
            where k.cancel_asked_at is not null and k.state in ('scheduled', 'processing')
            order by k.cancel_asked_at
            limit 1
        ), false) as cancelled
    from clock as c
)

select
    c.now,
    w.tenant,
    w.number,
    w.oldest,
    f.lapsed,
    f.cancelled,
    extract(epoch from d.due_at - c.now)::float8 as next_in
from clock as c
cross join coming as d
cross join flags as f
left join waiting as w on true
order by w.oldest, w.tenant
