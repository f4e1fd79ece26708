-- Removes one batch of runs of skipped instants of these schedules past their retention.
delete from jobs.skipped_instants
where
    id in (
        select k.id
        from
            unnest(%(tenants)s::text[], %(schedules)s::text[], %(untils)s::timestamptz[]) as g (tenant, schedule, until)
        inner join jobs.skipped_instants as k
            on
                g.tenant = k.tenant
                and g.schedule = k.schedule
                and g.until >= k.first_at
                and g.until >= k.last_at
        order by k.tenant, k.schedule, k.first_at
        limit %(batch)s
        for update of k skip locked
    )
    and exists (
        select 1 from jobs.duties as d
        where d.name = %(name)s and d.holder = %(holder)s and d.fence = %(fence)s
    )
