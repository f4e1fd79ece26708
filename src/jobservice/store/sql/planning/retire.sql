-- Retires schedules that the records do not have any more. What is due is not missed: it is taken, and ends as what
-- cannot be run. What was planned ahead is taken back, so it counts as planned no longer: one that comes back plans it.
with retired as (
    update jobs.schedules as s
    set
        retired_at = %(now)s::timestamptz,
        planned_until = least(s.planned_until, %(now)s::timestamptz),
        next_at = null,
        look_at = null,
        parked_at = null,
        parked_reason = null,
        version = s.version + 1
    from unnest(%(tenants)s::text[], %(schedules)s::text[]) as g (tenant, schedule)
    where
        s.tenant = g.tenant
        and s.schedule = g.schedule
        and s.retired_at is null
        and exists (
            select 1 from jobs.duties as d
            where d.name = %(name)s and d.holder = %(holder)s and d.fence = %(fence)s
        )
    returning s.tenant, s.schedule
)

update jobs.occurrences as o
set miss_at = null, version = o.version + 1
from retired as r
where
    o.tenant = r.tenant
    and o.schedule = r.schedule
    and o.state = 'scheduled'
    and o.fence = 0
    and o.miss_at is not null
    and o.scheduled_at <= %(now)s::timestamptz
