-- Removes of plans: their rows of jobs.plan_items.
delete from jobs.plan_items as t
where t.plan = any(%(plans)s::uuid[])
