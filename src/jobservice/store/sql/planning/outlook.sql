-- The clock, every tenant, whether one of these schedules is to be looked at or has missed something, and whether no
-- Worker that lives and takes work started later than this one: all that a run reads where there is nothing to do. What
-- was missed is found first, by its own index: it is almost always nothing.
with missed as materialized (
    select
        o.tenant,
        o.schedule
    from jobs.occurrences as o
    where o.state = 'scheduled' and o.miss_at <= jobs.now() and o.fence = 0 and o.cancel_asked_at is null
)

select
    jobs.now() as now,
    coalesce((select array_agg(t.id order by t.id) from jobs.tenants as t), '{}') as tenants,
    exists (
        select 1 from jobs.schedules as s
        where s.look_at <= jobs.now() and s.schedule = any(%(schedules)s)
    )
    or exists (
        select 1
        from missed as m
        inner join jobs.schedules as s on m.tenant = s.tenant and m.schedule = s.schedule
        where
            s.schedule = any(%(schedules)s)
            and s.retired_at is null
            and s.parked_at is null
            and (s.disabled_at is null or s.disabled_until <= jobs.now())
    ) as due,
    not exists (
        select 1
        from jobs.workers as w
        where
            w.stopped_at is null
            and w.draining_at is null
            and w.beat_at > jobs.now() - make_interval(secs => %(silent)s)
            and w.started_at > (
                select m.started_at from jobs.workers as m
                where m.incarnation = %(holder)s
            )
    ) as newest
