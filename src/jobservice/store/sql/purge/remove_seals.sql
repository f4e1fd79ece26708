-- Removes the seals under the base; that of the base itself stays.
delete from jobs.audit_seals as s
where s.place < %(place)s
