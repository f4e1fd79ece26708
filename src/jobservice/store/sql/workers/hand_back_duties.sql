-- Gives back every duty that a Worker process holds, each under the fence that it has now.
with held as (
    select
        h.name,
        h.fence
    from jobs.duties as h
    where h.holder = %(incarnation)s
    for update
)

update jobs.duties as d
set holder = null, expires_at = null
from held
where d.name = held.name and d.fence = held.fence and d.holder = %(incarnation)s
