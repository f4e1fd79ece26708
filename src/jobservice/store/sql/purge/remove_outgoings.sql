-- Removes of plans: their rows of jobs.outgoings.
delete from jobs.outgoings as t
where t.plan = any(%(plans)s::uuid[])
