-- Locks one alarm of a tenant; it is read in a later statement.
select a.version
from jobs.alarms as a
where a.tenant = %(tenant)s and a.id = %(id)s::uuid
for update
