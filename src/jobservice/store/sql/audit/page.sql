-- One page of a tenant's trail, newest first, with one row more than asked for where there is more.
select
    a.id,
    a.at,
    a.person,
    p.name as person_name,
    a.action,
    a.subject,
    a.outcome,
    a.detail
from jobs.audit as a
left join jobs.people as p on a.person = p.id
where a.tenant = %(tenant)s and a.id < coalesce(%(after)s::bigint, 9223372036854775807)
order by a.id desc
limit %(most)s + 1
