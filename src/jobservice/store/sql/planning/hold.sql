-- What is due of disabled schedules and nobody ever started is missed at once, so that nobody starts it: the misfire
-- policy decides once the schedule is enabled.
update jobs.occurrences as o
set miss_at = %(now)s::timestamptz, version = o.version + 1
from unnest(%(tenants)s::text[], %(schedules)s::text[]) as g (tenant, schedule)
where
    o.tenant = g.tenant
    and o.schedule = g.schedule
    and o.state = 'scheduled'
    and o.fence = 0
    and o.replays = 0
    and o.recovery is null
    and o.origin <> 'manual'
    and o.scheduled_at <= %(now)s::timestamptz
    and coalesce(o.miss_at > %(now)s::timestamptz, true)
    and exists (
        select 1 from jobs.duties as d
        where d.name = %(name)s and d.holder = %(holder)s and d.fence = %(fence)s
    )
