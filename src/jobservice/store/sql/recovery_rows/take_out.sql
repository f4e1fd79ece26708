-- Takes rows out of a recovery: those that were in it.
delete from jobs.recovery_rows as w
where w.tenant = %(tenant)s and w.recovery = %(recovery)s::uuid and w.key = any(%(keys)s::text[])
returning w.name, w.schedule, w.scheduled_at
