-- Removes plans of which nothing else is left.
delete from jobs.plans as p
where p.id = any(%(plans)s::uuid[])
