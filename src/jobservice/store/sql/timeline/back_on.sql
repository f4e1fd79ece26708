-- Schedules that a person disabled until a time that is past.
select
    s.disabled_until as at,
    s.schedule as key,
    s.schedule,
    s.disabled_reason
from jobs.schedules as s
where
    s.tenant = %(tenant)s
    and s.disabled_at is not null
    and s.disabled_until <= (select jobs.now())
    and s.disabled_until >= %(begin)s::timestamptz
    and s.disabled_until < %(until)s::timestamptz
    and (%(mark)s::text is null or s.disabled_until > %(begin)s::timestamptz or s.schedule > %(mark)s::text)
order by s.disabled_until, s.schedule
limit %(most)s + 1
