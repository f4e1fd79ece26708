-- Removes jobs of which nothing else is left.
delete from jobs.jobs as j
where j.family = %(family)s and j.id = any(%(jobs)s::uuid[])
