-- Removes of plans: their rows of jobs.plan_exclusions.
delete from jobs.plan_exclusions as t
where t.plan = any(%(plans)s::uuid[])
