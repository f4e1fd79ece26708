-- Active people of some tenants in some roles, without one: those who are told what happened to that one's codes.
select
    m.tenant,
    m.person
from jobs.memberships as m
inner join jobs.people as p on m.person = p.id
where m.tenant = any(%(tenants)s) and m.role = any(%(roles)s) and m.person <> %(person)s and p.active
order by m.tenant, m.person
