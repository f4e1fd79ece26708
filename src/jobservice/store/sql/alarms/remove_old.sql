-- Removes, under the duty's lease, some alarms that are over for long.
with old as (
    select o.id
    from jobs.tenants as t
    cross join
        lateral (
            select a.id
            from jobs.alarms as a
            where a.tenant = t.id and a.cleared_at < (select jobs.now()) - make_interval(secs => %(keep)s)
            order by a.cleared_at, a.id
            limit %(batch)s
        ) as o
    order by o.id
    limit %(batch)s
)

delete from jobs.alarms as a
using old
where
    a.id = old.id
    and exists (
        select 1 from jobs.duties as d
        where d.name = %(name)s and d.holder = %(holder)s and d.fence = %(fence)s
    )
