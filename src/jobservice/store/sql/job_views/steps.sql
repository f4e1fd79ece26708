-- The steps of a job of a source.
select *
from cross_job_steps
where tenant = %(tenant)s and job = %(job)s
order by position
limit 500
