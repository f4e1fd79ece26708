-- Removes idempotency keys past their time, the oldest first; how many of each tenant.
with past as (
    select
        k.tenant,
        k.person,
        k.method,
        k.path,
        k.key
    from jobs.idempotency_keys as k
    where k.expires_at < jobs.now()
    order by k.expires_at
    limit %(most)s
),

gone as (
    delete from jobs.idempotency_keys as k
    using past as p
    where k.tenant = p.tenant and k.person = p.person and k.method = p.method and k.path = p.path and k.key = p.key
    returning k.tenant
)

select
    g.tenant,
    count(*) as count
from gone as g
group by g.tenant
