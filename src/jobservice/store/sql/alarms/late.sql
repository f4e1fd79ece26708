-- What is due for too long and was not started, by schedule of a tenant: of at most so many of each tenant, those that
-- are due longest. What waits because a person said so is not late: stopped, switched off, to be cancelled.
with waiting as materialized (
    select
        t.id as tenant,
        w.schedule,
        count(*) as count,
        min(w.due_at) as since
    from jobs.tenants as t
    cross join
        lateral (
            select
                o.schedule,
                o.due_at
            from jobs.occurrences as o
            where
                o.tenant = t.id
                and o.state = 'scheduled'
                and o.cancel_asked_at is null
                and o.due_at <= (select jobs.now()) - make_interval(secs => %(after)s)
            order by o.due_at, o.id
            limit %(most)s
        ) as w
    group by t.id, w.schedule
)

select
    w.tenant,
    w.schedule,
    w.count,
    w.since
from waiting as w
where
    -- As jobs.stopped and jobs.switched_off say it: called for each of thousands, they would take a second.
    not exists (
        select 1
        from jobs.stops as p
        where p.tenant = w.tenant and p.scope = 'tenant'
    )
    and not exists (
        select 1
        from jobs.schedules as s
        where
            s.tenant = w.tenant
            and s.schedule = w.schedule
            and s.disabled_at is not null
            and (s.disabled_until is null or s.disabled_until > (select jobs.now()))
    )
