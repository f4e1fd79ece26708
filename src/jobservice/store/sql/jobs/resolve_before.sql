-- A failure was resolved: what it is a retry of, failed and unresolved, goes with it, each with a line of history.
-- What another transaction holds is left to that one: a retry that succeeds locks its lineage in another order.
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
        and j.requested_at < %(requested_at)s
        and j.status = 'failed'
        and j.resolution is null
    order by j.id
    for no key update skip locked
),

root as (
    update jobs.jobs as j
    set
        resolution = %(resolution)s,
        resolved_at = jobs.now(),
        resolved_by = %(person)s,
        resolution_reason = %(reason)s,
        ticket = %(ticket)s,
        event_sequence = j.event_sequence + 1,
        version = j.version + 1
    from failed as f
    where j.family = f.family and j.id = f.id and j.family = %(family)s and j.resolution is null
    returning j.family, j.id, j.tenant, j.resolved_at, j.event_sequence
)

insert into jobs.job_events (family, job, sequence, tenant, at, kind, status, sentence, person, detail)
select
    r.family,
    r.id,
    r.event_sequence,
    r.tenant,
    r.resolved_at,
    'resolved' as kind,
    'failed' as status,
    %(sentence)s,
    %(person)s,
    %(detail)s || jsonb_build_object('with', %(job)s::text) as detail
from root as r
returning job
