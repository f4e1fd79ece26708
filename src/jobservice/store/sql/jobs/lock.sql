-- Locks a job's row until the transaction ends.
select j.id
from jobs.jobs as j
where j.family = %(family)s and j.id = %(job)s::uuid and j.tenant = %(tenant)s
for no key update
