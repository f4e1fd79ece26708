-- Entries of the trail that a text names: by the reference of the request, or by their number. Each is read by its
-- number (`limit 1` keeps the planner from walking the whole table in the order of the answer).
select
    case when l.reference = %(text)s then 'reference of the request' else 'number' end as matched,
    l.id::text as id,
    l.action,
    l.subject,
    l.outcome as state,
    l.at
from (
    (
        select r.id
        from jobs.audit as r
        where r.tenant = %(tenant)s and r.reference = %(text)s
        order by r.reference
        limit %(most)s
    )
    union
    select n.id
    from jobs.audit as n
    where n.tenant = %(tenant)s and n.id = %(number)s::bigint
) as m
cross join
    lateral (
        select
            a.id,
            a.reference,
            a.action,
            a.subject,
            a.outcome,
            a.at
        from jobs.audit as a
        where a.id = m.id and a.tenant = %(tenant)s
        limit 1 -- noqa: AM09
    ) as l
order by l.id desc
limit %(most)s
