-- Keeps hints about schedules of several tenants, and wakes the listeners of all API processes once a tenant.
with added as (
    insert into jobs.hints (tenant, topic, queue, ref, version)
    select
        g.tenant,
        g.topic,
        g.ref as queue,
        g.ref,
        (extract(epoch from jobs.now()) * 1000000)::bigint as version
    from unnest(%(tenants)s::text[], %(topics)s::text[], %(refs)s::text[]) as g (tenant, topic, ref)
    returning tenant
),

told as (
    select distinct a.tenant
    from added as a
)

select pg_notify('jobs_hints', t.tenant)
from told as t
