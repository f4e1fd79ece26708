-- Removes notices to people that were delivered or given up and made before an instant, the oldest first; how many of
-- each tenant ('' = none).
with past as (
    select n.id
    from jobs.notices as n
    where
        n.made_at < %(past)s
        and (n.sent_at is not null or n.given_up_at is not null)
    order by n.made_at
    limit %(most)s
),

gone as (
    delete from jobs.notices as n
    using past as p
    where n.id = p.id
    returning n.tenant
)

select
    coalesce(g.tenant, '') as tenant,
    count(*) as count
from gone as g
group by g.tenant
