-- Instants that did not run, as it was decided.
select
    s.decided_at as at,
    s.id::text as key,
    s.schedule,
    s.first_at,
    s.last_at,
    s.count,
    s.cause
from jobs.skipped_instants as s
where
    s.tenant = %(tenant)s
    and s.decided_at >= %(begin)s::timestamptz
    and s.decided_at < %(until)s::timestamptz
    and (%(mark)s::text is null or s.decided_at > %(begin)s::timestamptz or s.id::text > %(mark)s::text)
order by s.decided_at, s.id::text
limit %(most)s + 1
