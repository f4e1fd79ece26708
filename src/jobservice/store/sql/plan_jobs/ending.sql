-- Who ended a plan; null where nobody did.
select p.ended_by
from jobs.plans as p
where p.tenant = %(tenant)s and p.id = %(plan)s::uuid
