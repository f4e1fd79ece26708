-- What Workers wanted to write of an occurrence under a lease that was not theirs any more, newest first.
select
    r.at,
    r.worker::text as worker,
    coalesce(w.host, '') as host,
    r.fence,
    r.what
from jobs.refused_completions as r
left join jobs.workers as w on r.worker = w.incarnation
where r.tenant = %(tenant)s and r.occurrence = %(occurrence)s::uuid
order by r.id desc
limit %(most)s
