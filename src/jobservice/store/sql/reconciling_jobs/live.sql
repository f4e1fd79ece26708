-- Runs that the engine would still go on with, from behind a place on, at most so many: those whose job is settled, or
-- not there any more; and the last one looked at, of how many.
with looked as (
    select
        s.workflow_uuid,
        s.status,
        s.priority,
        s.created_at,
        s.inputs
    from jobs_engine.workflow_status as s
    where
        s.status in ('ENQUEUED', 'PENDING')
        and s.queue_name = 'jobs'
        and (s.status, s.priority, s.created_at, s.workflow_uuid)
        > (%(status)s, %(priority)s::integer, %(created_at)s::bigint, %(handle)s)
    order by s.status, s.priority, s.created_at, s.workflow_uuid
    limit %(most)s
),

named as (
    select
        l.workflow_uuid as handle,
        count(*) over () as looked,
        l.status,
        l.priority,
        l.created_at,
        coalesce(l.inputs, i.inputs)::jsonb #>> '{positionalArgs,0}' as family,
        coalesce(l.inputs, i.inputs)::jsonb #>> '{positionalArgs,1}' as job,
        coalesce(l.inputs, i.inputs)::jsonb #>> '{positionalArgs,2}' as tenant,
        lead(l.workflow_uuid) over (order by l.status, l.priority, l.created_at, l.workflow_uuid) is null as last
    from looked as l
    left join jobs_engine.workflow_input as i on l.workflow_uuid = i.workflow_uuid
),

judged as (
    select
        n.handle,
        n.looked,
        n.status,
        n.priority,
        n.created_at,
        n.family,
        n.job,
        n.tenant,
        n.last,
        j.id is not null as known,
        n.created_at < extract(epoch from jobs.now() - make_interval(secs => %(grace)s)) * 1000
        and (j.id is null or j.settled_at < jobs.now() - make_interval(secs => %(grace)s)) is true as wrong
    from named as n
    left join jobs.jobs as j on n.family = j.family and n.job::uuid = j.id
)

select
    d.handle,
    d.status,
    d.priority,
    d.created_at,
    d.family,
    d.job,
    d.tenant,
    d.known,
    d.wrong,
    d.looked
from judged as d
where d.wrong or d.last
order by d.status, d.priority, d.created_at, d.handle
