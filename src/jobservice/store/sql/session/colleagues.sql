-- All active people of the tenant, by name.
select
    p.id,
    p.name,
    m.role
from jobs.people as p
inner join jobs.memberships as m on p.id = m.person
where m.tenant = %(tenant)s and p.active
order by p.name, p.id
