-- Says that a job changed, and wakes the listeners of all API processes; the notification carries the tenant alone.
with added as (
    insert into jobs.hints (tenant, topic, queue, ref, version)
    select
        j.tenant,
        'job' as topic,
        j.kind as queue,
        j.id::text as ref,
        (extract(epoch from jobs.now()) * 1000000)::bigint as version -- no row's version leaves the service (INV-12)
    from jobs.jobs as j
    where j.family = %(family)s and j.id = %(job)s::uuid and j.tenant = %(tenant)s
    returning tenant
)

select pg_notify('jobs_hints', added.tenant)
from added
