-- Schedule and scheduled instant of an occurrence.
select
    o.schedule,
    o.scheduled_at
from jobs.occurrences as o
where o.tenant = %(tenant)s and o.id = %(occurrence)s
