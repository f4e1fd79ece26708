-- What of a stretch was completed with every item selected and done: how many, and the first of them by name. Counted
-- by itself, as it is nearly everything. By the counts of the occurrence: a batch path keeps those alone.
with stretch as (
    select
        o.id,
        o.schedule,
        o.scheduled_at
    from jobs.occurrences as o
    where
        o.tenant = %(tenant)s
        and o.state = 'completed'
        and o.scheduled_at >= %(since)s
        and o.scheduled_at < %(until)s
        and (%(schedules)s::text[] is null or o.schedule = any(%(schedules)s::text[]))
        and o.refused = 0
        and o.failed = 0
        and o.unfinished = 0
        and o.selected_all
),

first_ones as (
    select
        s.schedule,
        s.scheduled_at
    from stretch as s
    order by s.scheduled_at, s.schedule, s.id
    limit %(kept)s
)

select
    (select count(*) from stretch) as count,
    coalesce(
        (
            select
                jsonb_agg(
                    jsonb_build_object('schedule', f.schedule, 'at', f.scheduled_at)
                    order by f.scheduled_at, f.schedule
                )
            from first_ones as f
        ),
        '[]'
    ) as kept
