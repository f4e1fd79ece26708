-- Writes what became of a locked job's failure effect, with its line of history.
with finished as (
    update jobs.jobs as j
    set
        failure_effect_state = %(state)s,
        failure_effect_at = jobs.now(),
        event_sequence = j.event_sequence + 1,
        version = j.version + 1
    where
        j.family = %(family)s
        and j.id = %(job)s::uuid
        and j.tenant = %(tenant)s
        and j.failure_effect_state = 'due'
        and j.failure_effect_attempts = %(attempts)s
    returning j.family, j.id, j.tenant, j.event_sequence, j.status, j.progress, j.failure_effect_attempts
)

insert into jobs.job_events (family, job, sequence, tenant, kind, status, progress, sentence, detail)
select
    f.family,
    f.id,
    f.event_sequence,
    f.tenant,
    %(kind)s,
    f.status,
    f.progress,
    %(sentence)s,
    jsonb_build_object('attempts', f.failure_effect_attempts) as detail
from finished as f
