-- Removes recoveries of which nothing else is left.
delete from jobs.recoveries as r
where r.id = any(%(recoveries)s::uuid[])
