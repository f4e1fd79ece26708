-- Moves the recovery points of schedules on: when one last started, when one last completed. Rows are locked in the
-- order of their keys, so that two Workers do not wait for each other.
with given as materialized (
    select g.*
    from unnest(
        %(tenants)s::text[], %(schedules)s::text[], %(began)s::timestamptz[], %(completed)s::timestamptz[]
    ) as g (tenant, schedule, began_at, completed_at)
),

latest as materialized (
    select
        g.tenant,
        g.schedule,
        max(g.began_at) as began_at,
        max(g.completed_at) as completed_at
    from given as g
    group by g.tenant, g.schedule
    order by g.tenant, g.schedule
),

locked as materialized (
    select
        g.tenant,
        g.schedule,
        g.began_at,
        g.completed_at
    from latest as g
    cross join lateral (
        select o.tenant
        from jobs.schedules as o
        where o.tenant = g.tenant and o.schedule = g.schedule
        order by o.tenant, o.schedule
        limit 1
        for update of o
    ) as s
)

update jobs.schedules as s
set
    last_started_at = greatest(s.last_started_at, l.began_at),
    last_completed_at = greatest(s.last_completed_at, l.completed_at),
    version = s.version + 1
from locked as l
where s.tenant = l.tenant and s.schedule = l.schedule
