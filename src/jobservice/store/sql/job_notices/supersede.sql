-- Suppresses a notice that waits, since what it says does not hold.
update jobs.job_notices as n
set state = 'suppressed', ended_at = jobs.now(), reason = %(reason)s
where n.id = %(id)s and n.state = 'due'
