-- Keeps the answer to one warning of a plan; no row where the plan has no such warning.
update jobs.plan_warnings
set
    answer = %(reason)s,
    answered_at = jobs.now()
where id = %(warning)s::uuid and plan = %(plan)s::uuid and tenant = %(tenant)s
returning item::text as item, kind
