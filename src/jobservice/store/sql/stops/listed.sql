-- Every stop of a tenant with whoever made it, the latest first.
select
    s.scope,
    s.name,
    s.at,
    s.by,
    coalesce(p.name, s.by) as by_name,
    s.reason,
    s.version
from jobs.stops as s
left join jobs.people as p on s.by = p.id
where s.tenant = %(tenant)s
order by s.at desc, s.scope asc, s.name asc
