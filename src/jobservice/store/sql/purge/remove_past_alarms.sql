-- Removes alarms that were over before an instant and of which nobody is to be told, the oldest first; how many of each
-- tenant.
with past as (
    select a.id
    from jobs.alarms as a
    where
        a.cleared_at is not null
        and a.cleared_at < %(past)s
        and a.told <> 'waiting'
    order by a.cleared_at
    limit %(most)s
),

gone as (
    delete from jobs.alarms as a
    using past as p
    where a.id = p.id
    returning a.tenant
)

select
    g.tenant,
    count(*) as count
from gone as g
group by g.tenant
