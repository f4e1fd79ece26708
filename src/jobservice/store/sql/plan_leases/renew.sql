-- Extends all leases of this process that are still its own, each under its fence; the rows are locked.
update jobs.plans as p
set expires_at = jobs.now() + make_interval(secs => %(lease)s)
from unnest(%(plans)s::uuid[], %(fences)s::bigint[]) as held (plan, fence)
where p.id = held.plan and p.fence = held.fence and p.holder = %(holder)s and p.expires_at > jobs.now()
returning p.id
