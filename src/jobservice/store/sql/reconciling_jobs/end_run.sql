-- Ends a run that the engine would still go on with, as the engine itself cancels one; but it keeps the name of its
-- queue, by which what ended is found and removed.
update jobs_engine.workflow_status as w
set
    status = 'CANCELLED',
    owner_xid = null,
    deduplication_id = null,
    started_at_epoch_ms = null,
    updated_at = extract(epoch from jobs.now()) * 1000,
    completed_at = extract(epoch from jobs.now()) * 1000
where w.workflow_uuid = %(handle)s and w.status in ('ENQUEUED', 'DELAYED', 'PENDING')
