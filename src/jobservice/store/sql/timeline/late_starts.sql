-- Occurrences that began more than a minute after their time.
select
    o.started_at as at,
    o.id::text as key,
    o.schedule,
    o.scheduled_at,
    o.origin
from jobs.occurrences as o
where
    o.tenant = %(tenant)s
    and o.started_at - o.scheduled_at > interval '1 minute'
    and o.started_at >= %(begin)s::timestamptz
    and o.started_at < %(until)s::timestamptz
    and (%(mark)s::text is null or o.started_at > %(begin)s::timestamptz or o.id::text > %(mark)s::text)
order by o.started_at, o.id::text
limit %(most)s + 1
