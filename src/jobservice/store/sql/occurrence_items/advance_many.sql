-- Writes that the one item of each of many occurrences is done, in the transaction of their effects, each under its own
-- lease. The rows are locked in the order of their ids first.
with given as (
    select
        g.id,
        g.fence
    from unnest(%(occurrences)s::uuid[], %(fences)s::bigint[]) as g (id, fence)
),

locked as materialized (
    select o.id
    from jobs.occurrences as o
    where
        o.id = any(%(occurrences)s::uuid[])
        and o.tenant = %(tenant)s
        and o.holder = %(holder)s
    order by o.id
    for no key update of o
)

update jobs.occurrences as o
set
    selected_all = true,
    done = 1,
    version = o.version + 1
from locked as l, given as g
where
    o.id = l.id
    and g.id = l.id
    and o.tenant = %(tenant)s
    and o.state = 'processing'
    and o.holder = %(holder)s
    and o.fence = g.fence
    and o.expires_at > jobs.now()
returning o.id
