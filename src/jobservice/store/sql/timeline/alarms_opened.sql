-- Alarms as they opened.
select
    m.opened_at as at,
    m.id::text as key,
    m.kind,
    m.subject,
    m.sentence
from jobs.alarms as m
where
    m.tenant = %(tenant)s
    and m.opened_at >= %(begin)s::timestamptz
    and m.opened_at < %(until)s::timestamptz
    and (%(mark)s::text is null or m.opened_at > %(begin)s::timestamptz or m.id::text > %(mark)s::text)
order by m.opened_at, m.id::text
limit %(most)s + 1
