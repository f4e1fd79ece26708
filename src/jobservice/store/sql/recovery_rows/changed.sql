-- Rows of a recovery that are no longer as they were frozen, by number, and how many there are. What they are about is
-- locked. Another version, gone, made meanwhile, or of a schedule that was disabled.
with now_as as (
    select
        w.number,
        w.key,
        w.name,
        w.target,
        w.state as state_before,
        w.row_version as version_before,
        s.disabled_at is not null and (s.disabled_until is null or s.disabled_until > %(now)s) as disabled,
        coalesce(p.name, s.disabled_by) as disabled_by,
        s.floor_at >= w.scheduled_at as removed,
        case when w.target = 'schedule' then s.switched else o.version end as version_now,
        case
            when w.target <> 'schedule' then o.state
            when s.schedule is not null then 'schedule'
        end as state_now,
        o.id as occurrence
    from jobs.recovery_rows as w
    left join jobs.occurrences as o
        on
            o.tenant = %(tenant)s
            and (
                w.occurrence = o.id
                or (w.target = 'skipped-instant' and w.schedule = o.schedule and w.scheduled_at = o.scheduled_at)
            )
    left join jobs.schedules as s on s.tenant = %(tenant)s and w.schedule = s.schedule
    left join jobs.people as p on s.disabled_by = p.id
    where w.tenant = %(tenant)s and w.recovery = %(recovery)s::uuid
),

changed as (
    select
        n.number,
        n.key,
        n.name,
        case n.target
            when 'occurrence' then n.state_before
            when 'schedule' then 'schedule'
            else 'skipped'
        end as state_before,
        case
            when coalesce(n.removed, false) then null
            when n.target = 'skipped-instant' then coalesce(n.state_now, 'skipped')
            else n.state_now
        end as state_now,
        n.version_before,
        case when n.target = 'skipped-instant' then 0 else n.version_now end as version_now,
        case when n.disabled then n.disabled_by end as disabled_by
    from now_as as n
    where
        (n.target <> 'skipped-instant' and n.version_now is distinct from n.version_before)
        or (n.target = 'skipped-instant' and n.occurrence is not null)
        or coalesce(n.removed, false)
        or (%(runs)s and coalesce(n.disabled, false))
)

select
    c.*,
    count(*) over () as changed
from changed as c
order by c.number
limit %(most)s
