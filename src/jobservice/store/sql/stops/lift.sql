-- Lets something go on, where the stop is the one that was read.
delete from jobs.stops as s
where s.tenant = %(tenant)s and s.scope = %(scope)s and s.name = %(name)s and s.by = %(by)s and s.at = %(at)s
