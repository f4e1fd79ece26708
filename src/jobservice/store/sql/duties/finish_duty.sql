-- Gives the lease back after a whole run.
update jobs.duties set holder = null, expires_at = null, finished_at = jobs.now()
where name = %(name)s and holder = %(holder)s and fence = %(fence)s
