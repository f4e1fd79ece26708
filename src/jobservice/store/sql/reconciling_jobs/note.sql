-- A line of a job's history that changes nothing else of it: what was found and done. The job's row is locked.
with noted as (
    update jobs.jobs as j
    set event_sequence = j.event_sequence + 1, version = j.version + 1
    where j.family = %(family)s and j.id = %(job)s::uuid and j.tenant = %(tenant)s
    returning j.family, j.id, j.tenant, j.event_sequence, j.status, j.progress
)

insert into jobs.job_events (family, job, sequence, tenant, kind, status, progress, sentence, detail)
select
    n.family,
    n.id,
    n.event_sequence,
    n.tenant,
    %(kind)s,
    n.status,
    n.progress,
    %(sentence)s,
    %(detail)s
from noted as n
