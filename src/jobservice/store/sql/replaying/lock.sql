-- Locks one occurrence that a person wants to act on; everything is compared in later statements, after the wait.
select o.id::text as id
from jobs.occurrences as o
where o.tenant = %(tenant)s and o.id = %(occurrence)s::uuid
for update of o
