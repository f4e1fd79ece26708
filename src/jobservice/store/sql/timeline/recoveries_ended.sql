-- Recoveries that ended by themselves.
select
    r.ended_at as at,
    r.id::text as key,
    r.name,
    r.state,
    r.act,
    r.count,
    r.why
from jobs.recoveries as r
where
    r.tenant = %(tenant)s
    and r.ended_at is not null
    and r.state in ('done', 'expired')
    and r.ended_at >= %(begin)s::timestamptz
    and r.ended_at < %(until)s::timestamptz
    and (%(mark)s::text is null or r.ended_at > %(begin)s::timestamptz or r.id::text > %(mark)s::text)
order by r.ended_at, r.id::text
limit %(most)s + 1
