-- Locks a job whose failure effect is due and was taken for this very attempt; what the effect may see.
select
    j.family,
    j.id::text as job,
    j.tenant,
    j.kind,
    j.failure_effect as effect,
    j.failure_effect_attempts as attempts,
    j.inputs,
    j.customer,
    j.workspace,
    j.depth,
    coalesce(j.subject, j.customer, j.workspace, j.kind) as subject,
    j.failure_summary as summary,
    coalesce(j.failure_reference, '') as reference,
    coalesce(
        (
            select s.step
            from jobs.job_steps as s
            where s.family = j.family and s.job = j.id and s.status = 'failed'
            order by s.position
            limit 1
        ),
        j.last_step
    ) as step
from jobs.jobs as j
where
    j.family = %(family)s
    and j.id = %(job)s::uuid
    and j.tenant = %(tenant)s
    and j.failure_effect_state = 'due'
    and j.failure_effect_attempts = %(attempts)s
for update of j
