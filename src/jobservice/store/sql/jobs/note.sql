-- Adds a line to a job's history, and nothing else: settled or not.
with root as (
    update jobs.jobs as j
    set event_sequence = j.event_sequence + 1, version = j.version + 1
    where j.family = %(family)s and j.id = %(job)s::uuid and j.tenant = %(tenant)s
    returning j.family, j.id, j.tenant, j.event_sequence, j.status, j.progress
)

insert into jobs.job_events (family, job, sequence, tenant, kind, step, status, progress, sentence, person, detail)
select
    r.family,
    r.id,
    r.event_sequence,
    r.tenant,
    %(kind)s,
    %(step)s,
    r.status,
    r.progress,
    %(sentence)s,
    %(person)s,
    %(detail)s
from root as r
