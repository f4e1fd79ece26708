-- One stop, where it is in force. Its row is made and deleted, and never changed.
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
where s.tenant = %(tenant)s and s.scope = %(scope)s and s.name = %(name)s
