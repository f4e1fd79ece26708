-- Locks some ended occurrences of each of these schedules past their retention, the oldest first.
select o.id
from unnest(%(tenants)s::text[], %(schedules)s::text[], %(untils)s::timestamptz[]) as g (tenant, schedule, until)
cross join
    lateral ( -- noqa: ST05
        select e.id
        from jobs.occurrences as e
        where
            e.tenant = g.tenant
            and e.schedule = g.schedule
            and e.scheduled_at <= g.until
            and e.state in ('completed', 'dead-letter')
        order by e.scheduled_at
        limit %(each)s
        for update of e skip locked
    ) as o
