-- Alarms as they were over.
select
    m.cleared_at as at,
    m.id::text as key,
    m.kind,
    m.subject,
    m.sentence
from jobs.alarms as m
where
    m.tenant = %(tenant)s
    and m.cleared_at is not null
    and m.cleared_at >= %(begin)s::timestamptz
    and m.cleared_at < %(until)s::timestamptz
    and (%(mark)s::text is null or m.cleared_at > %(begin)s::timestamptz or m.id::text > %(mark)s::text)
order by m.cleared_at, m.id::text
limit %(most)s + 1
