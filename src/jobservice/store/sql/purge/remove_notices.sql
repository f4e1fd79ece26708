-- Removes the notices of jobs.
delete from jobs.job_notices as n
where n.job = any(%(jobs)s::uuid[])
