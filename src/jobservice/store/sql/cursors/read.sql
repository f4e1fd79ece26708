-- Where a saga-driving job goes on.
select c.position
from jobs.cursors as c
where c.tenant = %(tenant)s and c.name = %(name)s
