-- Removes the history of jobs.
delete from jobs.job_events as e
where e.family = %(family)s and e.job = any(%(jobs)s::uuid[])
