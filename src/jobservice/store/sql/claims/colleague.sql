-- An active person of the tenant, with what they are in it.
select
    p.id,
    p.name,
    m.role,
    m.customers,
    m.workspaces
from jobs.people as p
inner join jobs.memberships as m on p.id = m.person
where m.tenant = %(tenant)s and p.id = %(person)s and p.active
