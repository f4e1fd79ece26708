-- Writes how many jobs of a locked recovery were not as they had been frozen when their turn came, by how they were.
update jobs.recoveries as r
set drifted = %(drifted)s
where r.tenant = %(tenant)s and r.id = %(recovery)s::uuid
