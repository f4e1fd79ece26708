-- A retry succeeded: the failures of its lineage that nobody resolved are resolved by it, each with a line of history.
with failed as materialized (
    select
        j.family,
        j.id
    from jobs.jobs as j
    where
        j.lineage = %(lineage)s::uuid
        and j.family = %(family)s
        and j.tenant = %(tenant)s
        and j.id <> %(job)s::uuid
        and j.status = 'failed'
        and j.resolution is null
    order by j.id
    for no key update
),

root as (
    update jobs.jobs as j
    set
        resolution = 'retried',
        resolved_at = jobs.now(),
        resolved_job = %(job)s::uuid,
        event_sequence = j.event_sequence + 1,
        version = j.version + 1
    from failed as f
    where j.family = f.family and j.id = f.id and j.family = %(family)s and j.resolution is null
    returning j.family, j.id, j.tenant, j.resolved_at, j.event_sequence
)

insert into jobs.job_events (family, job, sequence, tenant, at, kind, status, sentence, detail)
select
    r.family,
    r.id,
    r.event_sequence,
    r.tenant,
    r.resolved_at,
    'resolved' as kind,
    'failed' as status,
    'A retry of it succeeded.' as sentence,
    jsonb_build_object('job', %(job)s::text) as detail
from root as r
returning job
