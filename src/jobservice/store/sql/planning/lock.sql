-- Locks the next of these schedules that are to be looked at or have missed something; whoever disables one just now is
-- not waited for.
with late as materialized (
    select distinct
        o.tenant,
        o.schedule
    from jobs.occurrences as o
    where
        o.state = 'scheduled'
        and o.miss_at <= %(now)s::timestamptz
        and o.fence = 0
        and o.cancel_asked_at is null
),

missed as materialized (
    select
        s.tenant,
        s.schedule
    from late as o
    inner join jobs.schedules as s on o.tenant = s.tenant and o.schedule = s.schedule
    where
        s.schedule = any(%(schedules)s)
        and s.retired_at is null
        and s.parked_at is null
        and (s.disabled_at is null or s.disabled_until <= %(now)s::timestamptz)
    order by s.tenant, s.schedule
    limit %(batch)s
),

chosen as materialized (
    select
        s.tenant,
        s.schedule
    from jobs.schedules as s
    where s.look_at <= %(now)s::timestamptz and s.schedule = any(%(schedules)s)
    order by s.look_at, s.tenant, s.schedule
    limit %(batch)s
)

select
    s.tenant,
    s.schedule,
    s.definition,
    s.planned_until,
    s.floor_at,
    s.disabled_until,
    coalesce(
        s.disabled_at is not null and (s.disabled_until is null or s.disabled_until > %(now)s::timestamptz), false
    ) as disabled,
    s.parked_reason,
    s.version,
    m.schedule is not null as missed
from jobs.schedules as s
left join missed as m on s.tenant = m.tenant and s.schedule = m.schedule
where
    (s.tenant, s.schedule) in (
        select
            c.tenant,
            c.schedule
        from chosen as c
        union
        select
            c.tenant,
            c.schedule
        from missed as c
    )
    and s.retired_at is null
order by s.tenant, s.schedule
for no key update of s skip locked
