-- Occurrences that completed after they had been tried or run again.
select
    o.ended_at as at,
    o.id::text as key,
    o.schedule,
    o.scheduled_at,
    o.attempts,
    o.replays
from jobs.occurrences as o
where
    o.tenant = %(tenant)s
    and o.state = 'completed'
    and (o.attempts > 1 or o.replays > 0)
    and o.ended_at >= %(begin)s::timestamptz
    and o.ended_at < %(until)s::timestamptz
    and (%(mark)s::text is null or o.ended_at > %(begin)s::timestamptz or o.id::text > %(mark)s::text)
order by o.ended_at, o.id::text
limit %(most)s + 1
