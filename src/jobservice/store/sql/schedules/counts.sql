-- How many of these schedules of a tenant are parked, disabled, or late: something of them is due since before an
-- instant and has not started. One that is parked or disabled is not counted as late.
with standing as (
    select
        coalesce(s.parked_at is not null, false) as parked,
        coalesce(
            s.disabled_at is not null and (s.disabled_until is null or s.disabled_until > %(now)s::timestamptz), false
        ) as disabled,
        exists(
            select 1
            from jobs.occurrences as o
            where
                o.tenant = %(tenant)s
                and o.schedule = w.schedule
                and o.state = 'scheduled'
                and o.started_at is null
                and o.cancel_asked_at is null
                and o.due_at < %(late)s::timestamptz
        ) as late
    from unnest(%(schedules)s::text[]) as w (schedule)
    left join jobs.schedules as s on s.tenant = %(tenant)s and w.schedule = s.schedule and s.retired_at is null
)

select
    count(*) filter (where g.parked) as parked,
    count(*) filter (where g.disabled and not g.parked) as disabled,
    count(*) filter (where g.late and not g.parked and not g.disabled) as late
from standing as g
