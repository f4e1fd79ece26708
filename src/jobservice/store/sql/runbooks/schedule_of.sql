-- Of which schedule an occurrence is.
select o.schedule
from jobs.occurrences as o
where o.tenant = %(tenant)s and o.id = %(occurrence)s::uuid
