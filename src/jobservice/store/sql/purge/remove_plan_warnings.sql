-- Removes of plans: their rows of jobs.plan_warnings.
delete from jobs.plan_warnings as t
where t.plan = any(%(plans)s::uuid[])
