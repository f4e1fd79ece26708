-- Removes what the engine kept of the runs of jobs, but for those that it would still go on with.
with runs as (
    delete from jobs_engine.workflow_status as w
    where w.workflow_uuid = any(%(handles)s::text[]) and w.status not in ('ENQUEUED', 'DELAYED', 'PENDING')
    returning w.workflow_uuid
),

inputs as (
    delete from jobs_engine.workflow_input as i
    where i.workflow_uuid in (select r.workflow_uuid from runs as r)
),

outputs as (
    delete from jobs_engine.workflow_output as o
    where o.workflow_uuid in (select r.workflow_uuid from runs as r)
),

operations as (
    delete from jobs_engine.operation_outputs as o
    where o.workflow_uuid in (select r.workflow_uuid from runs as r)
)

delete from jobs_engine.datasource_outputs as d
where d.workflow_id in (select r.workflow_uuid from runs as r)
