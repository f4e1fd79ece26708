-- Lines of a job's history before a sequence, newest first.
select *
from cross_job_events
where
    tenant = %(tenant)s
    and job = %(job)s
    and (%(before)s::bigint is null or sequence < %(before)s::bigint)
order by sequence desc
limit %(most)s
