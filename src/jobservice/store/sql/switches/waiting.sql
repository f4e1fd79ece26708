-- What of a schedule nobody ever started and is missed, or was made up for and waits: as the planner would find it.
select
    o.scheduled_at as at,
    o.origin = 'made-up' as made_up,
    coalesce(o.miss_at <= %(now)s::timestamptz, false) as missed
from jobs.occurrences as o
where
    o.tenant = %(tenant)s
    and o.schedule = %(schedule)s
    and o.state = 'scheduled'
    and o.fence = 0
    and o.replays = 0
    and o.recovery is null
    and o.origin <> 'manual'
    and o.cancel_asked_at is null
    and o.scheduled_at <= %(now)s::timestamptz
    and (o.miss_at <= %(now)s::timestamptz or o.origin = 'made-up')
order by o.scheduled_at
limit %(most)s
