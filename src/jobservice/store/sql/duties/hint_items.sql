-- Tells every stream of the tenant that these items changed.
with hinted as (
    insert into jobs.hints (tenant, topic, queue, ref, version)
    select
        %(tenant)s,
        'item' as topic,
        changed.queue,
        changed.ref,
        changed.version
    from unnest(%(queues)s::text[], %(refs)s::text[], %(versions)s::bigint[]) as changed (queue, ref, version)
    returning id
)

select pg_notify('jobs_hints', %(tenant)s)
where (select count(*) from hinted) > 0
