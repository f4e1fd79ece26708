-- Removes of recoveries: their rows of jobs.recovery_rows.
delete from jobs.recovery_rows as t
where t.recovery = any(%(recoveries)s::uuid[])
