-- A Worker process lives.
update jobs.workers set beat_at = jobs.now()
where incarnation = %(incarnation)s and stopped_at is null
