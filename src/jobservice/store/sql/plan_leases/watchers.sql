-- People of the tenant with one of these roles who can still sign in.
select p.id
from jobs.memberships as m
inner join jobs.people as p on m.person = p.id
where m.tenant = %(tenant)s and m.role = any(%(roles)s) and p.active
order by p.id
