-- Removes entries of the trail up to a place, that are under the base.
delete from jobs.audit as a
using jobs.audit_links as l
where l.entry = a.id and l.place <= %(place)s
