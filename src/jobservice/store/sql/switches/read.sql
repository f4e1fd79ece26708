-- Where a schedule stands, as the planner reads it, and who switched it off.
select
    s.definition,
    s.planned_until,
    s.floor_at,
    s.disabled_at,
    s.disabled_until,
    s.disabled_by,
    coalesce(p.name, s.disabled_by) as disabled_by_name,
    s.disabled_reason,
    s.switched,
    s.version,
    jobs.now() as now
from jobs.schedules as s
left join jobs.people as p on s.disabled_by = p.id
where s.tenant = %(tenant)s and s.schedule = %(schedule)s and s.retired_at is null
