-- What the engine's table says of a job's run, after the job's row was locked; whether its process shows life, and how
-- long ago the job did.
select
    w.status,
    exists(
        select 1
        from jobs.workers as p
        where
            p.incarnation::text = w.executor_id
            and p.stopped_at is null
            and p.beat_at > jobs.now() - interval '30 seconds'
    ) as alive,
    extract(epoch from jobs.now() - j.activity_at)::double precision as quiet
from jobs.jobs as j
left join jobs_engine.workflow_status as w on j.execution_handle = w.workflow_uuid
where j.family = %(family)s and j.id = %(job)s::uuid and j.tenant = %(tenant)s
