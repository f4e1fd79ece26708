-- Everybody with what they are, a row a membership; a person without any has one row.
select
    p.id,
    p.name,
    p.contact,
    p.active,
    p.demo,
    m.tenant,
    m.role,
    m.customers,
    m.workspaces
from jobs.people as p
left join jobs.memberships as m on p.id = m.person
order by p.id, m.tenant
