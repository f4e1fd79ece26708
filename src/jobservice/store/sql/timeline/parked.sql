-- Schedules that are parked still.
select
    s.parked_at as at,
    s.schedule as key,
    s.schedule,
    s.parked_reason
from jobs.schedules as s
where
    s.tenant = %(tenant)s
    and s.parked_at is not null
    and s.parked_at >= %(begin)s::timestamptz
    and s.parked_at < %(until)s::timestamptz
    and (%(mark)s::text is null or s.parked_at > %(begin)s::timestamptz or s.schedule > %(mark)s::text)
order by s.parked_at, s.schedule
limit %(most)s + 1
