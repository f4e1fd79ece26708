-- One entry of a tenant's trail, and how it is sealed.
select
    a.id,
    a.at,
    a.person,
    p.name as person_name,
    a.action,
    a.subject,
    a.outcome,
    a.schedule,
    a.detail,
    a.reference,
    l.place,
    l.link,
    s.at as sealed_at
from jobs.audit as a
left join jobs.people as p on a.person = p.id
left join jobs.audit_links as l on a.id = l.entry
left join jobs.audit_seals as s on l.seal = s.number
where a.id = %(entry)s and a.tenant = %(tenant)s
