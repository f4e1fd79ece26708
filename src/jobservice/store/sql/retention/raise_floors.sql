-- Raises the floor of these schedules over what is about to be removed, so that it is never planned again. One that is
-- just being planned is left for the next run.
with locked as (
    select
        s.tenant,
        s.schedule,
        g.until
    from jobs.schedules as s
    inner join
        unnest(%(tenants)s::text[], %(schedules)s::text[], %(untils)s::timestamptz[]) as g (tenant, schedule, until)
        on s.tenant = g.tenant and s.schedule = g.schedule
    order by s.tenant, s.schedule
    for no key update of s skip locked
)

update jobs.schedules as s
set floor_at = greatest(s.floor_at, l.until)
from locked as l
where
    s.tenant = l.tenant
    and s.schedule = l.schedule
    and exists (
        select 1 from jobs.duties as d
        where d.name = %(name)s and d.holder = %(holder)s and d.fence = %(fence)s
    )
returning s.tenant, s.schedule, l.until
