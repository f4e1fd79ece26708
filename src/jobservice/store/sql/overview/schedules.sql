-- How many of these schedules of a tenant are parked, disabled, or late, and the most urgent of them: parked ones, then
-- those that are late for longest, then those of which something waits for its next attempt.
with retries as (
    select distinct o.schedule
    from jobs.occurrences as o
    where o.tenant = %(tenant)s and o.state = 'scheduled' and o.attempts > 0
),

standing as (
    select
        w.schedule,
        coalesce(s.parked_at is not null, false) as parked,
        coalesce(
            s.disabled_at is not null and (s.disabled_until is null or s.disabled_until > %(now)s::timestamptz), false
        ) as disabled,
        (
            select o.due_at
            from jobs.occurrences as o
            where
                o.tenant = %(tenant)s
                and o.schedule = w.schedule
                and o.state = 'scheduled'
                and o.started_at is null
                and o.cancel_asked_at is null
                and o.due_at < %(late)s::timestamptz
            order by o.scheduled_at
            limit 1
        ) as late_since,
        r.schedule is not null as retrying
    from unnest(%(schedules)s::text[]) as w (schedule)
    left join jobs.schedules as s on s.tenant = %(tenant)s and w.schedule = s.schedule and s.retired_at is null
    left join retries as r on w.schedule = r.schedule
),

urgent as (
    select
        g.schedule,
        row_number() over (order by g.parked desc, g.late_since asc, g.schedule asc) as place
    from standing as g
    where g.parked or (not g.disabled and (g.late_since is not null or g.retrying))
    order by place
    limit %(urgent)s
)

select
    count(*) filter (where g.parked) as parked,
    count(*) filter (where g.disabled and not g.parked) as disabled,
    count(*) filter (where g.late_since is not null and not g.parked and not g.disabled) as late,
    coalesce((select array_agg(u.schedule order by u.place) from urgent as u), '{}') as urgent
from standing as g
