-- The fences under which a plan holds its items since it was confirmed.
update jobs.plan_items
set fence = fence + 1
where tenant = %(tenant)s and plan = %(plan)s::uuid
