-- A locked job as it stands, with its steps in their order. Under a snapshot of its own, taken after the lock.
select
    j.family,
    j.id::text as id,
    j.tenant,
    j.kind,
    j.kind_version,
    j.status,
    j.progress,
    j.moves,
    j.carrier,
    j.submission_identity,
    j.inputs,
    j.requester,
    j.subject,
    j.customer,
    j.workspace,
    j.requested_at,
    j.started_at,
    j.settled_at,
    j.execution_handle as handle,
    j.holder::text as holder,
    j.fence,
    j.failure_summary,
    j.failure_reference,
    j.failure_effect,
    j.lineage::text as lineage,
    j.retry_of::text as retry_of,
    j.cancel_asked_at,
    j.cancel_asked_by,
    coalesce(asker.name, j.cancel_asked_by) as cancel_asked_by_name,
    j.cancel_reason,
    j.plan::text as plan,
    j.recovery::text as recovery,
    j.depth,
    j.resolution,
    j.version,
    jobs.now() as now,
    (
        select e.detail ->> 'label'
        from jobs.job_events as e
        where e.family = j.family and e.job = j.id and e.sequence = 1
    ) as kind_label,
    (
        select
            jsonb_agg(
                jsonb_build_object(
                    'position', s.position,
                    'step', s.step,
                    'label', s.label,
                    'use_case', s.use_case,
                    'undo', s.undo,
                    'moves', s.moves,
                    'weight', s.weight,
                    'status', s.status,
                    'attempts', s.attempts,
                    'handed_back', s.handed_back,
                    'progress', s.progress,
                    'sent', s.sent_at is not null,
                    'sentence', s.sentence,
                    'wait_seconds', extract(epoch from s.next_attempt_at - jobs.now()),
                    'result', s.result
                )
                order by s.position
            )
        from jobs.job_steps as s
        where s.family = j.family and s.job = j.id
    ) as steps
from jobs.jobs as j
left join jobs.people as asker on j.cancel_asked_by = asker.id
where j.family = %(family)s and j.id = %(job)s::uuid and j.tenant = %(tenant)s
