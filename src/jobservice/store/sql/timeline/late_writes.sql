-- Writes of Workers that had lost their lease, and were refused.
select
    r.at,
    r.id::text as key,
    o.schedule,
    o.scheduled_at,
    r.what,
    r.fence,
    w.host,
    r.worker::text as worker
from jobs.refused_completions as r
inner join jobs.occurrences as o on r.occurrence = o.id
left join jobs.workers as w on r.worker = w.incarnation
where
    r.tenant = %(tenant)s
    and r.at >= %(begin)s::timestamptz
    and r.at < %(until)s::timestamptz
    and (%(mark)s::text is null or r.at > %(begin)s::timestamptz or r.id::text > %(mark)s::text)
order by r.at, r.id::text
limit %(most)s + 1
