-- Takes over what an earlier version of the interpreter was to run: what a job has done is in its account, in the same
-- words for all versions. A later one's is left alone.
update jobs_engine.workflow_status as w
set application_version = %(version)s
where
    w.queue_name = 'jobs' and w.status = 'ENQUEUED' and w.application_version is distinct from %(version)s
    and coalesce(substring(w.application_version from '^interpreter-([0-9]{1,9})$')::integer, 0)
    < substring(%(version)s from '^interpreter-([0-9]{1,9})$')::integer
returning w.workflow_uuid as handle
