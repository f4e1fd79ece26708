-- Keeps what was not written because the lease was another's by then.
insert into jobs.refused_completions (tenant, occurrence, worker, fence, what)
select
    %(tenant)s,
    r.id as occurrence,
    %(holder)s,
    r.fence,
    %(what)s
from unnest(%(occurrences)s::uuid[], %(fences)s::bigint[]) as r (id, fence)
