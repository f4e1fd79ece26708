-- Lets money of a tenant move again.
update jobs.money_switches
set stopped = false, at = null, by = null, reason = null, version = version + 1
where tenant = %(tenant)s and stopped
returning version
