-- Workflows of DBOS (3.x), paged on the time it made them, which it has an index on. Inputs, outputs and errors are not
-- shown: they are the application's, and written in a form of its own.
create view cross_job_query as
select
    s.application as family,
    w.workflow_uuid as job,
    s.tenant,
    null::text as customer,
    null::text as workspace,
    coalesce(w.name, 'workflow') as kind,
    case
        when w.status in ('ENQUEUED', 'DELAYED') then 'pending'
        when w.status = 'PENDING' then 'running'
        when w.status = 'SUCCESS' then 'succeeded'
        when w.status = 'CANCELLED' then 'cancelled'
        else 'failed'
    end as status,
    case when w.status = 'SUCCESS' then 100 else 0 end as progress,
    coalesce('queue ' || w.queue_name, w.name) as subject,
    null::text as requester,
    w.deduplication_id as submission_identity,
    to_timestamp(w.created_at / 1000.0) as requested_at,
    case
        when w.status not in ('ENQUEUED', 'DELAYED')
            then to_timestamp(coalesce(w.started_at_epoch_ms, w.created_at) / 1000.0)
    end as started_at,
    to_timestamp(greatest(w.updated_at, w.created_at) / 1000.0) as activity_at,
    case
        when w.status not in ('ENQUEUED', 'DELAYED', 'PENDING')
            then to_timestamp(coalesce(w.completed_at, w.updated_at) / 1000.0)
    end as settled_at,
    o.function_name as last_step,
    case when o.function_name is null then null when o.error is null then 'succeeded' else 'failed' end
        as last_step_status,
    case
        when w.status = 'MAX_RECOVERY_ATTEMPTS_EXCEEDED' then 'Its process was lost as often as it may be.'
        when w.status = 'ERROR' then 'The workflow ended with an error.'
    end as failure_summary,
    null::text as failure_reference,
    w.forked_from as retry_of,
    w.created_at as position,
    s.engine
from cross_job_source as s
cross join workflow_status as w
left join lateral (
    select
        f.function_name,
        f.error
    from operation_outputs as f
    where f.workflow_uuid = w.workflow_uuid
    order by f.function_id desc
    limit 1
) as o on true
