-- How one entry of the trail is sealed.
select
    l.place,
    l.link,
    s.at as sealed_at
from jobs.audit_links as l
inner join jobs.audit_seals as s on l.seal = s.number
where l.entry = %(entry)s
