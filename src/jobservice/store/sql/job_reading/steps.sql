-- The steps of a job, in the order of its definition.
select
    s.position,
    s.step,
    s.label,
    s.use_case,
    s.moves,
    s.status,
    s.attempts,
    s.progress,
    s.started_at,
    s.settled_at,
    s.next_attempt_at,
    s.sentence,
    s.failure_reference,
    s.reference
from jobs.job_steps as s
where s.family = %(family)s and s.job = %(job)s::uuid and s.tenant = %(tenant)s
order by s.position
