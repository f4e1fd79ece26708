-- Workflows that ended, of jobs that are settled or are not there any more: the engine needs them no longer. One that
-- ended while its job did not is kept: the reconciler looks at it.
select w.workflow_uuid as handle
from jobs_engine.workflow_status as w
inner join jobs_engine.workflow_input as i on w.workflow_uuid = i.workflow_uuid
left join
    jobs.jobs as j
    on
        j.family = ((i.inputs::jsonb) -> 'positionalArgs' ->> 0)
        and j.id = ((i.inputs::jsonb) -> 'positionalArgs' ->> 1)::uuid
where
    w.queue_name = 'jobs' and w.completed_at is not null and w.status not in ('ENQUEUED', 'PENDING', 'DELAYED')
    and (j.id is null or j.settled_at is not null)
order by w.completed_at
limit %(most)s
