-- Takes the name of its run off a job that has none: it is handed over under a new one.
update jobs.jobs as j
set execution_handle = null, handed_over_at = null, version = j.version + 1
where
    j.family = %(family)s
    and j.id = %(job)s::uuid
    and j.tenant = %(tenant)s
    and j.status = 'pending'
    and not exists (
        select 1
        from jobs_engine.workflow_status as w
        where w.workflow_uuid = j.execution_handle
    )
