-- Stops all money of a tenant. The statement waits for the turns that run now (migration 0003): when it is done, no
-- further one begins.
update jobs.money_switches
set stopped = true, at = jobs.now(), by = %(by)s, reason = %(reason)s, version = version + 1
where tenant = %(tenant)s and not stopped
returning version
