-- Counts a step of a recovery: its version rises, and the first says when it started.
update jobs.recoveries as r
set version = r.version + 1, started_at = coalesce(r.started_at, jobs.now())
where r.tenant = %(tenant)s and r.id = %(recovery)s::uuid
returning r.version
