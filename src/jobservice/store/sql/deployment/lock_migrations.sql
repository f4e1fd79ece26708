-- Whether this process may migrate now: one at a time; the lock is the session's. Asked again and again, never waited
-- for: the engine makes its indexes concurrently, which waits for every statement that stands.
select pg_try_advisory_lock(%(key)s) as locked
