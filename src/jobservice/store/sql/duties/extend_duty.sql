-- Keeps the lease, whose row is locked, for another stretch; no row where it ended while the lock was waited for.
update jobs.duties set expires_at = jobs.now() + make_interval(secs => %(lease)s)
where name = %(name)s and holder = %(holder)s and fence = %(fence)s and expires_at > jobs.now()
returning name
