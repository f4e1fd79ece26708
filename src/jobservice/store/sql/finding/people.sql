-- The person of that id, where they are in the tenant.
select
    'id' as matched,
    p.id,
    p.name,
    case when p.active then m.role else 'inactive' end as state,
    null::timestamptz as at
from jobs.memberships as m
inner join jobs.people as p on m.person = p.id
where m.tenant = %(tenant)s and m.person = %(person)s
