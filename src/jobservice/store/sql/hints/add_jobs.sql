-- Keeps hints about jobs of several tenants, and wakes the listeners of all API processes once a tenant.
with added as (
    insert into jobs.hints (tenant, topic, queue, ref, version)
    select
        g.tenant,
        g.topic,
        g.kind,
        g.ref,
        (extract(epoch from jobs.now()) * 1000000)::bigint as version
    from
        unnest(%(tenants)s::text[], %(topics)s::text[], %(kinds)s::text[], %(refs)s::text[])
            as g (tenant, topic, kind, ref)
    returning tenant
),

told as (
    select distinct a.tenant
    from added as a
)

select pg_notify('jobs_hints', t.tenant)
from told as t
