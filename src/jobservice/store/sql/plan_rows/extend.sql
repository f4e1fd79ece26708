-- Moves the end of an open plan's claim on its items.
update jobs.items
set
    expires_at = %(until)s,
    row_version = row_version + 1
where tenant = %(tenant)s and plan = %(plan)s::uuid and not held
