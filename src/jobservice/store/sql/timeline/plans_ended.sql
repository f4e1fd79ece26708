-- Plans that ended before anything of them was done, by nobody's hand.
select
    n.ended_at as at,
    n.id::text as key,
    n.name,
    n.state,
    n.command,
    n.count,
    n.reason
from jobs.plans as n
where
    n.tenant = %(tenant)s
    and n.ended_at is not null
    and n.state in ('voided', 'expired')
    and n.ended_at >= %(begin)s::timestamptz
    and n.ended_at < %(until)s::timestamptz
    and (%(mark)s::text is null or n.ended_at > %(begin)s::timestamptz or n.id::text > %(mark)s::text)
order by n.ended_at, n.id::text
limit %(most)s + 1
