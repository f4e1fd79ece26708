-- Ends an open plan; no row where it is not open any more.
update jobs.plans
set
    state = %(state)s,
    ended_at = jobs.now(),
    ended_by = %(by)s,
    reason = %(reason)s,
    version = version + 1
where id = %(plan)s::uuid and tenant = %(tenant)s and state = 'open'
returning version
