-- A success that did not hold, and was not told yet, is told to nobody.
update jobs.job_notices as n
set state = 'suppressed', ended_at = jobs.now(), reason = 'The success did not hold: the job failed.'
where n.job = %(job)s::uuid and n.tenant = %(tenant)s and n.outcome = 'succeeded' and n.state = 'due'
returning n.id
