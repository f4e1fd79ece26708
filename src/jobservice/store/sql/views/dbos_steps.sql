-- The steps that DBOS has recorded; those to come it does not know.
create view cross_job_steps as
select
    s.application as family,
    o.workflow_uuid as job,
    s.tenant,
    o.function_id as position,
    o.function_name as step,
    o.function_name as label,
    case when o.error is null then 'succeeded' else 'failed' end as status,
    1 as attempts,
    to_timestamp(o.started_at_epoch_ms / 1000.0) as started_at,
    to_timestamp(o.completed_at_epoch_ms / 1000.0) as settled_at,
    null::text as sentence
from cross_job_source as s
cross join operation_outputs as o
