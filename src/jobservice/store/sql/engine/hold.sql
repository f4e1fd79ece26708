-- Locks those of several jobs that this Worker still runs under that fence and that nobody asked to cancel. What
-- another transaction is just writing is left out: its progress can wait, and nobody waits for it.
select j.id::text as job
from jobs.jobs as j
inner join
    unnest(%(families)s::text[], %(jobs)s::uuid[], %(fences)s::bigint[]) as h (family, job, fence)
    on j.family = h.family and j.id = h.job
where j.holder = %(holder)s::uuid and j.fence = h.fence and j.status = 'running' and j.cancel_asked_at is null
order by j.id
for no key update of j skip locked
