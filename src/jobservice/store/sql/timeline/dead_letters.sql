-- Occurrences that became dead letters and are so still.
select
    o.ended_at as at,
    o.id::text as key,
    o.schedule,
    o.scheduled_at,
    o.cause,
    o.error,
    o.attempts
from jobs.occurrences as o
where
    o.tenant = %(tenant)s
    and o.state = 'dead-letter'
    and o.ended_at >= %(begin)s::timestamptz
    and o.ended_at < %(until)s::timestamptz
    and (%(mark)s::text is null or o.ended_at > %(begin)s::timestamptz or o.id::text > %(mark)s::text)
order by o.ended_at, o.id::text
limit %(most)s + 1
