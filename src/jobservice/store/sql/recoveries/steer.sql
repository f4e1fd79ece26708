-- Pauses, resumes, aborts, drops or expires a recovery whose row is locked, no row where it does not stand so any more.
update jobs.recoveries as r set
    state = %(state)s,
    why = %(why)s,
    ended_at = case when %(ended)s then jobs.now() end,
    ended_by = case when %(ended)s then %(by)s end,
    version = r.version + 1
where r.tenant = %(tenant)s and r.id = %(recovery)s::uuid and r.state = %(was)s
returning r.version
