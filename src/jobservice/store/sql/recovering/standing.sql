-- Why no occurrence was made of an instant: one is there already, retention came past it, or its schedule is off.
select
    o.id is not null as there,
    coalesce(s.floor_at >= %(at)s::timestamptz, false) as removed,
    coalesce(p.name, s.disabled_by) as disabled_by,
    s.disabled_reason
from (select 1 as one) as g
left join jobs.occurrences as o
    on o.tenant = %(tenant)s and o.schedule = %(schedule)s and o.scheduled_at = %(at)s::timestamptz
left join jobs.schedules as s on s.tenant = %(tenant)s and s.schedule = %(schedule)s and s.retired_at is null
left join jobs.people as p on s.disabled_by = p.id
