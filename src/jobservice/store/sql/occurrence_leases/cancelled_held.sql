-- Which of this process's occurrences a person asked to cancel.
select o.id
from jobs.occurrences as o
inner join unnest(%(ids)s::uuid[], %(fences)s::bigint[]) as h (id, fence) on o.id = h.id and o.fence = h.fence
where o.id = any(%(ids)s::uuid[]) and o.holder = %(holder)s and o.cancel_asked_at is not null
