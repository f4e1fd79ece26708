-- Lets one process migrate at a time; the lock is the session's.
select pg_advisory_lock(%(key)s)
