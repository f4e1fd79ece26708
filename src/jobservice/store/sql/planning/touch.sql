-- Has schedules looked at now, and keeps how long their occurrences are kept.
update jobs.schedules as s
set look_at = %(now)s::timestamptz, kept_seconds = g.kept_seconds
from jsonb_to_recordset(%(rows)s) as g (tenant text, schedule text, kept_seconds double precision)
where
    s.tenant = g.tenant
    and s.schedule = g.schedule
    and exists (
        select 1 from jobs.duties as d
        where d.name = %(name)s and d.holder = %(holder)s and d.fence = %(fence)s
    )
