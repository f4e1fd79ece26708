-- Writes a transition of a locked job, and the lines of its history behind the last one. No row where the job is not of
-- that version any more, or not this holder's under that fence (null: whoever locked it may, without a hold).
with n as materialized (
    select jobs.now() as at
),

told as materialized (
    select
        e.number,
        e.line
    from jsonb_array_elements(%(events)s::jsonb) with ordinality as e (line, number)
),

root as (
    update jobs.jobs as j
    set
        status = %(status)s,
        progress = greatest(j.progress, %(progress)s::smallint),
        started_at = case when %(status)s = 'running' then coalesce(j.started_at, n.at) else j.started_at end,
        activity_at = greatest(j.activity_at, n.at),
        settled_at = case
            when %(status)s in ('succeeded', 'failed', 'cancelled') then greatest(j.activity_at, n.at)
        end,
        last_step = coalesce(%(last_step)s, j.last_step),
        last_step_status = coalesce(%(last_step_status)s, j.last_step_status),
        holder = %(new_holder)s::uuid,
        fence = j.fence + %(taken)s::integer,
        failure_summary = %(summary)s,
        failure_reference = %(failure_reference)s,
        cause = (
            select c.id
            from jobs.job_causes as c
            where
                c.tenant = j.tenant and c.kind = j.kind and c.step = %(cause_step)s and c.text = %(cause)s
        ),
        failure_effect_state = case
            when %(status)s = 'failed' and j.failure_effect is not null then 'due' else j.failure_effect_state
        end,
        failure_effect_at = case
            when %(status)s = 'failed' and j.failure_effect is not null then n.at else j.failure_effect_at
        end,
        event_sequence = j.event_sequence + (select count(*) from told),
        version = j.version + 1
    from n
    where
        j.family = %(family)s
        and j.id = %(job)s::uuid
        and j.tenant = %(tenant)s
        and j.version = %(version)s
        and (%(holder)s::uuid is null or (j.holder = %(holder)s::uuid and j.fence = %(fence)s))
    returning j.family, j.id, j.tenant, j.activity_at, j.event_sequence, j.progress, j.fence
),

lines as (
    insert into jobs.job_events (
        family, job, sequence, tenant, at, kind, step, status, progress, sentence, person, detail
    )
    select
        r.family,
        r.id,
        r.event_sequence - (select count(*) from told) + t.number as sequence,
        r.tenant,
        r.activity_at,
        t.line ->> 'kind' as kind,
        t.line ->> 'step' as step,
        t.line ->> 'status' as status,
        r.progress,
        t.line ->> 'sentence' as sentence,
        t.line ->> 'person' as person,
        t.line -> 'detail' as detail
    from root as r
    cross join told as t
)

select
    r.progress,
    r.fence
from root as r
