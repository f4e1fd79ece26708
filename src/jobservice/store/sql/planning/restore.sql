-- What was held while its schedule was disabled, and is not missed yet after all.
update jobs.occurrences as o
set miss_at = g.miss_at, version = o.version + 1
from jsonb_to_recordset(%(rows)s) as g (tenant text, schedule text, at timestamptz, miss_at timestamptz)
where
    o.tenant = g.tenant
    and o.schedule = g.schedule
    and o.scheduled_at = g.at
    and o.state = 'scheduled'
    and o.fence = 0
    and o.replays = 0
    and o.recovery is null
    and exists (
        select 1 from jobs.duties as d
        where d.name = %(name)s and d.holder = %(holder)s and d.fence = %(fence)s
    )
