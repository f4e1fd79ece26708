-- A Worker process ended in good order.
update jobs.workers set beat_at = jobs.now(), stopped_at = jobs.now()
where incarnation = %(incarnation)s and stopped_at is null
