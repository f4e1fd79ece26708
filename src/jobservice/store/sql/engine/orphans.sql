-- Workflows that are marked as running on a Worker that does not live: stopped, silent for too long, or not known at
-- all (a row that was cleaned away hides nobody's work). The oldest first.
select w.workflow_uuid as handle
from jobs_engine.workflow_status as w
left join jobs.workers as k on w.executor_id = k.incarnation::text
where
    w.queue_name = 'jobs' and w.status = 'PENDING'
    and (
        k.incarnation is null or k.stopped_at is not null
        or k.beat_at < jobs.now() - make_interval(secs => %(silent)s)
    )
order by w.created_at
limit %(most)s
