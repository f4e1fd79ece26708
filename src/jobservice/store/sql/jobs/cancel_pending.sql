-- Settles a locked job as cancelled that nobody began, with its steps, and says so in its history: what the API may.
with n as materialized (
    select jobs.now() as at
),

root as (
    update jobs.jobs as j
    set
        status = 'cancelled',
        settled_at = greatest(j.activity_at, n.at),
        activity_at = greatest(j.activity_at, n.at),
        event_sequence = j.event_sequence + 1,
        version = j.version + 1
    from n
    where
        j.family = %(family)s
        and j.id = %(job)s::uuid
        and j.tenant = %(tenant)s
        and j.status = 'pending'
        and j.cancel_asked_at is not null
    returning j.family, j.id, j.tenant, j.activity_at, j.event_sequence, j.progress
),

steps as (
    update jobs.job_steps as s
    set status = 'cancelled', settled_at = r.activity_at
    from root as r
    where s.family = r.family and s.job = r.id and s.tenant = r.tenant and s.status = 'queued'
)

insert into jobs.job_events (family, job, sequence, tenant, at, kind, status, progress, sentence, person)
select
    r.family,
    r.id,
    r.event_sequence,
    r.tenant,
    r.activity_at,
    'settled' as kind,
    'cancelled' as status,
    r.progress,
    %(sentence)s,
    %(person)s
from root as r
