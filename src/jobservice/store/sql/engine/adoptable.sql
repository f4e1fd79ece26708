-- Whether an earlier version of the interpreter was to run something that waits.
select exists(
    select 1
    from jobs_engine.workflow_status as w
    where
        w.queue_name = 'jobs' and w.status = 'ENQUEUED' and w.application_version is distinct from %(version)s
        and coalesce(substring(w.application_version from '^interpreter-([0-9]{1,9})$')::integer, 0)
        < substring(%(version)s from '^interpreter-([0-9]{1,9})$')::integer
) as adoptable
