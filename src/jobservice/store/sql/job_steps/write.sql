-- Writes transitions of steps of a locked job, by position. Attempts and hand-backs are added; what is null stays.
update jobs.job_steps as s
set
    status = w.status,
    attempts = s.attempts + coalesce(w.attempts, 0),
    handed_back = s.handed_back + coalesce(w.handed_back, 0),
    progress = greatest(s.progress, coalesce(w.progress, 0)),
    started_at = case when w.attempts > 0 then coalesce(s.started_at, n.at) else s.started_at end,
    settled_at = case when w.status in ('succeeded', 'failed', 'cancelled') then n.at end,
    next_attempt_at = case when w.status = 'retrying' then n.at + w.wait_seconds * interval '1 second' end,
    sentence = coalesce(w.sentence, s.sentence),
    failure_reference = coalesce(w.failure_reference, s.failure_reference),
    outward_key = coalesce(w.outward_key, s.outward_key),
    sent_at = case when w.unsent then null else coalesce(s.sent_at, case when w.sent then n.at end) end,
    reference = coalesce(w.reference, s.reference),
    result = coalesce(w.result, s.result)
from (select jobs.now() as at) as n
cross join
    jsonb_to_recordset(%(steps)s::jsonb)
        as w (
            position smallint,
            status text,
            attempts integer,
            handed_back integer,
            progress smallint,
            wait_seconds double precision,
            sentence text,
            failure_reference text,
            outward_key text,
            sent boolean,
            unsent boolean,
            reference text,
            result jsonb
        )
where
    s.family = %(family)s
    and s.job = %(job)s::uuid
    and s.tenant = %(tenant)s
    and s.position = w.position
returning s.position
