-- What was missed, and the policy runs: it waits for its turn, and is not missed again.
update jobs.occurrences as o
set origin = 'made-up', miss_at = null, version = o.version + 1
from jsonb_to_recordset(%(rows)s) as g (tenant text, schedule text, at timestamptz)
where
    o.tenant = g.tenant
    and o.schedule = g.schedule
    and o.scheduled_at = g.at
    and o.state = 'scheduled'
    and o.fence = 0
    and o.replays = 0
    and (o.origin <> 'made-up' or o.miss_at is not null)
    and exists (
        select 1 from jobs.duties as d
        where d.name = %(name)s and d.holder = %(holder)s and d.fence = %(fence)s
    )
