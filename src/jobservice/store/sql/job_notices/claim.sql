-- Claims the notices that are due longest, at most so many, each under a raised fence; an attempt counts from now on.
with due as (
    select n.id
    from jobs.job_notices as n
    where n.state = 'due' and n.try_at <= jobs.now()
    order by n.try_at, n.id
    limit %(most)s
    for update skip locked
)

update jobs.job_notices as n
set
    state = 'claimed',
    holder = %(holder)s,
    expires_at = jobs.now() + make_interval(secs => %(lease)s),
    fence = n.fence + 1,
    attempts = n.attempts + 1
from due as d
where n.id = d.id
returning
    n.id,
    n.tenant,
    n.family,
    n.job::text as job,
    n.outcome,
    n.person,
    n.subject,
    n.text,
    n.made_at,
    n.attempts,
    n.fence,
    jobs.now() as now
