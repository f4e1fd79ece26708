-- Counts a change of a plan that is none of its frozen rows.
update jobs.plans
set version = version + 1
where id = %(plan)s::uuid and tenant = %(tenant)s
returning version
