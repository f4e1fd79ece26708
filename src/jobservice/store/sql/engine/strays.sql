-- Workflows that are marked as running on this Worker.
select w.workflow_uuid as handle
from jobs_engine.workflow_status as w
where w.queue_name = 'jobs' and w.status = 'PENDING' and w.executor_id = %(holder)s
