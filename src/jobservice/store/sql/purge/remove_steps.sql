-- Removes the steps of jobs.
delete from jobs.job_steps as s
where s.family = %(family)s and s.job = any(%(jobs)s::uuid[])
