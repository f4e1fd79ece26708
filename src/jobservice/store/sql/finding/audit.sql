-- Entries of the trail that a text names: by the reference of the request, or by their number.
select
    case when a.reference = %(text)s then 'reference of the request' else 'number' end as matched,
    a.id::text as id,
    a.action,
    a.subject,
    a.outcome as state,
    a.at
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
inner join jobs.audit as a on m.id = a.id
where a.tenant = %(tenant)s
order by a.id desc
limit %(most)s
