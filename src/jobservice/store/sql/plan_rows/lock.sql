-- Locks those of some items that are in the queue and within reach, in the order of their ids, as everybody does who
-- locks several and waits: so two never wait for one another. What they are is read after the wait (MONEY.md 30).
with locked as (
    select i.id
    from jobs.items as i
    where
        i.tenant = %(tenant)s
        and i.queue = %(queue)s
        and i.id = any(%(items)s::uuid[])
        and jobs.in_reach(i, %(customers)s::text[], %(workspaces)s::text[])
    order by i.id
    for update of i
)

select
    coalesce(array_agg(l.id), '{}')::text as items,
    count(*) as found
from locked as l
