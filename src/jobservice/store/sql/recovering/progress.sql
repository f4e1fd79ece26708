-- Counts a step of a locked recovery: its version rises, its account is what it is now, the first says when it started.
update jobs.recoveries as r
set version = r.version + 1, account = %(account)s, started_at = coalesce(r.started_at, jobs.now())
where r.tenant = %(tenant)s and r.id = %(recovery)s::uuid
returning r.version
