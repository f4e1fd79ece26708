-- A job of procrastinate is one task: its one step.
create view cross_job_steps as
select
    s.application as family,
    j.id::text as job,
    s.tenant,
    1 as position,
    j.task_name::text as step,
    j.task_name::text as label,
    case
        when j.status::text = 'todo' and j.attempts > 0 then 'retrying'
        when j.status::text = 'todo' then 'queued'
        when j.status::text in ('doing', 'aborting') then 'running'
        when j.status::text in ('succeeded', 'failed') then j.status::text
        else 'cancelled'
    end as status,
    j.attempts,
    e.started_at,
    case when j.status::text in ('succeeded', 'failed', 'cancelled', 'aborted') then e.activity_at end as settled_at,
    null::text as sentence
from cross_job_source as s
cross join procrastinate_jobs as j
left join lateral (
    select
        min(v.at) filter (where v.type::text = 'started') as started_at,
        max(v.at) as activity_at
    from procrastinate_events as v
    where v.job_id = j.id
) as e on true
