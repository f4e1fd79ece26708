-- DBOS keeps no history: what its times tell.
create view cross_job_events as
select
    s.application as family,
    w.workflow_uuid as job,
    s.tenant,
    t.sequence,
    to_timestamp(t.ms / 1000.0) as at,
    t.kind,
    null::text as step,
    null::text as status,
    null::integer as progress,
    t.sentence
from cross_job_source as s
cross join workflow_status as w
cross join
    lateral (
        values
        (1::bigint, w.created_at, 'submitted', 'Made.'),
        (2::bigint, w.started_at_epoch_ms, 'started', 'Taken from its queue.'),
        (3::bigint, w.completed_at, 'settled', 'Ended as ' || w.status || '.')
    ) as t (sequence, ms, kind, sentence)
where t.ms is not null
