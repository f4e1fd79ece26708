-- A job of the tenant as a line of a listing, and the clock.
select
    l.*,
    jobs.now() as now
from jobs.job_lines as l
where l.family = %(family)s and l.id = %(job)s::uuid and l.tenant = %(tenant)s
