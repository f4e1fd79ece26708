-- Gives the lease back before the run was whole: another Worker may begin at once.
update jobs.duties set holder = null, expires_at = null
where name = %(name)s and holder = %(holder)s and fence = %(fence)s
