-- Takes an open plan's claim off every item on which it still stands.
update jobs.items
set
    holder = null,
    taken_at = null,
    expires_at = null,
    plan = null,
    plan_name = null,
    row_version = row_version + 1
where tenant = %(tenant)s and plan = %(plan)s::uuid and not held
