-- The attempts at an occurrence that ended, newest first.
select
    a.attempt,
    a.fence,
    a.worker::text as worker,
    coalesce(w.host, '') as host,
    a.taken_at,
    a.started_at,
    a.expires_at,
    a.renewals,
    a.ended_at,
    a.ending,
    a.error,
    a.replay
from jobs.occurrence_attempts as a
left join jobs.workers as w on a.worker = w.incarnation
where a.tenant = %(tenant)s and a.occurrence = %(occurrence)s::uuid
order by a.fence desc
limit %(most)s
