-- Suppresses notices that nobody can deliver and that have waited for so many seconds, at most so many.
with stale as (
    select n.id
    from jobs.job_notices as n
    where n.state = 'due' and n.made_at < jobs.now() - make_interval(secs => %(seconds)s)
    order by n.try_at
    limit %(most)s
    for update skip locked
)

update jobs.job_notices as n
set state = 'suppressed', ended_at = jobs.now(), reason = %(reason)s
from stale as s
where n.id = s.id
