-- A Worker process takes nothing new.
update jobs.workers set beat_at = jobs.now(), draining_at = jobs.now()
where incarnation = %(incarnation)s and stopped_at is null and draining_at is null
