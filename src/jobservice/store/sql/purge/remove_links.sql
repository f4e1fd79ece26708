-- Removes the links of entries that are gone.
delete from jobs.audit_links as l
where l.place <= %(place)s
