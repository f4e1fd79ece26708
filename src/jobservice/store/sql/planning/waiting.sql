-- Locks what of these schedules nobody ever started and is missed, or was made up for and waits. What is being claimed
-- just now is not waited for: it starts.
select
    o.tenant,
    o.schedule,
    o.scheduled_at as at,
    o.origin = 'made-up' as made_up,
    coalesce(o.miss_at <= %(now)s::timestamptz, false) as missed
from unnest(%(tenants)s::text[], %(schedules)s::text[]) as g (tenant, schedule)
inner join jobs.occurrences as o on g.tenant = o.tenant and g.schedule = o.schedule
where
    o.state = 'scheduled'
    and o.fence = 0
    and o.replays = 0
    and o.recovery is null
    and o.origin <> 'manual'
    and o.cancel_asked_at is null
    and o.scheduled_at <= %(now)s::timestamptz
    and (o.miss_at <= %(now)s::timestamptz or o.origin = 'made-up')
order by o.tenant, o.schedule, o.scheduled_at
limit %(most)s
for no key update of o skip locked
