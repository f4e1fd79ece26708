-- Keeps who asked for a locked job to be cancelled, and why, with a line of history; the job goes on until its Worker
-- ended what runs.
with root as (
    update jobs.jobs as j
    set
        cancel_asked_at = jobs.now(),
        cancel_asked_by = %(person)s,
        cancel_reason = %(reason)s,
        activity_at = greatest(j.activity_at, jobs.now()),
        event_sequence = j.event_sequence + 1,
        version = j.version + 1
    where
        j.family = %(family)s
        and j.id = %(job)s::uuid
        and j.tenant = %(tenant)s
        and j.version = %(version)s
        and j.cancel_asked_at is null
        and j.settled_at is null
    returning j.family, j.id, j.tenant, j.activity_at, j.event_sequence, j.progress, j.status
)

insert into jobs.job_events (family, job, sequence, tenant, at, kind, status, progress, sentence, person)
select
    r.family,
    r.id,
    r.event_sequence,
    r.tenant,
    r.activity_at,
    'cancel-asked' as kind,
    r.status,
    r.progress,
    %(sentence)s,
    %(person)s
from root as r
