-- Keeps where schedules stand after a look, each under the lock that the look took.
update jobs.schedules as s
set
    definition = g.definition,
    planned_until = g.planned_until,
    next_at = g.next_at,
    look_at = g.look_at,
    parked_at = case when g.parked is null then null else coalesce(s.parked_at, %(now)s::timestamptz) end,
    parked_reason = g.parked,
    last_scheduled_at = greatest(
        s.last_scheduled_at,
        (
            select o.scheduled_at
            from jobs.occurrences as o
            where o.tenant = s.tenant and o.schedule = s.schedule and o.scheduled_at <= %(now)s::timestamptz
            order by o.scheduled_at desc
            limit 1
        )
    ),
    version = s.version + 1
from
    jsonb_to_recordset(%(rows)s)
        as g (
            tenant text,
            schedule text,
            definition text,
            planned_until timestamptz,
            next_at timestamptz,
            look_at timestamptz,
            parked text
        )
where
    s.tenant = g.tenant
    and s.schedule = g.schedule
    and exists (
        select 1 from jobs.duties as d
        where d.name = %(name)s and d.holder = %(holder)s and d.fence = %(fence)s
    )
