-- Says of a locked failure why it asks for nothing any more, with a line of history.
with root as (
    update jobs.jobs as j
    set
        resolution = %(resolution)s,
        resolved_at = jobs.now(),
        resolved_by = %(person)s,
        resolution_reason = %(reason)s,
        ticket = %(ticket)s,
        event_sequence = j.event_sequence + 1,
        version = j.version + 1
    where
        j.family = %(family)s
        and j.id = %(job)s::uuid
        and j.tenant = %(tenant)s
        and j.version = %(version)s
        and j.status = 'failed'
        and j.resolution is null
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
    %(detail)s
from root as r
