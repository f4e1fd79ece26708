-- Jobs of procrastinate (3.x), paged on its own primary key. Arguments are not shown: they are the application's.
create view cross_job_query as
select
    s.application as family,
    j.id::text as job,
    s.tenant,
    j.args ->> s.customer_field as customer,
    null::text as workspace,
    j.task_name::text as kind,
    case j.status::text
        when 'todo' then 'pending'
        when 'doing' then 'running'
        when 'aborting' then 'running'
        when 'succeeded' then 'succeeded'
        when 'failed' then 'failed'
        else 'cancelled'
    end as status,
    case when j.status::text = 'succeeded' then 100 else 0 end as progress,
    ('queue ' || j.queue_name)::text as subject,
    null::text as requester,
    j.queueing_lock as submission_identity,
    coalesce(e.requested_at, j.scheduled_at, to_timestamp(0)) as requested_at,
    e.started_at,
    coalesce(e.activity_at, j.scheduled_at, to_timestamp(0)) as activity_at,
    case when j.status::text in ('succeeded', 'failed', 'cancelled', 'aborted') then e.activity_at end as settled_at,
    case when j.attempts > 0 or j.status::text = 'doing' then j.task_name::text end as last_step,
    case
        when j.status::text = 'todo' and j.attempts > 0 then 'retrying'
        when j.status::text in ('doing', 'aborting') then 'running'
        when j.status::text in ('succeeded', 'failed') then j.status::text
        when j.status::text in ('cancelled', 'aborted') and j.attempts > 0 then 'cancelled'
    end as last_step_status,
    case when j.status::text = 'failed' then 'The task failed after ' || j.attempts || ' attempts.' end
        as failure_summary,
    null::text as failure_reference,
    null::text as retry_of,
    j.id as position,
    s.engine
from cross_job_source as s
cross join procrastinate_jobs as j
left join lateral (
    select
        min(v.at) filter (where v.type::text = 'deferred') as requested_at,
        min(v.at) filter (where v.type::text = 'started') as started_at,
        max(v.at) as activity_at
    from procrastinate_events as v
    where v.job_id = j.id
) as e on true
