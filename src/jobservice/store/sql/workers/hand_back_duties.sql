-- Gives back every duty that a Worker process holds.
update jobs.duties set holder = null, expires_at = null
where holder = %(incarnation)s
