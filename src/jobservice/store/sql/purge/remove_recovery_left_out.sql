-- Removes of recoveries: their rows of jobs.recovery_left_out.
delete from jobs.recovery_left_out as t
where t.recovery = any(%(recoveries)s::uuid[])
