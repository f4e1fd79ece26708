-- One stop, where it is in force. Its row is made and deleted, and never changed.
select
    s.scope,
    s.name,
    s.at,
    s.by,
    p.name as by_name,
    s.reason,
    s.version
from jobs.stops as s
inner join jobs.people as p on s.by = p.id
where s.tenant = %(tenant)s and s.scope = %(scope)s and s.name = %(name)s
