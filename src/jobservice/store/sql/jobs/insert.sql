-- Adds a job with its queued steps and the first line of its history, and hands it over to the engine (engine): one
-- statement. No row where its identity is taken, or an unsettled retry of the same job is there; one that another
-- transaction is adding just now is waited for. The handle is made here: handing over writes no second time.
with given as materialized (
    select
        jobs.uuid7() as id,
        jobs.now() as made_at
),

added as (
    insert into jobs.jobs (
        family, id, tenant, kind, kind_version, moves, carrier, submission_identity, inputs, inputs_digest, requester,
        subject, customer, workspace, requested_at, activity_at, execution_handle, handed_over_at, lineage, retry_of,
        retry_reason, plan, recovery, depth, failure_effect, event_sequence
    )
    select
        %(family)s,
        g.id,
        %(tenant)s,
        %(kind)s,
        %(version)s,
        %(moves)s,
        %(carrier)s,
        %(identity)s,
        %(inputs)s,
        %(digest)s,
        %(requester)s,
        %(subject)s,
        %(customer)s,
        %(workspace)s,
        g.made_at as requested_at,
        g.made_at as activity_at,
        case when %(engine)s then gen_random_uuid()::text end as handle,
        case when %(engine)s then g.made_at end as handed_over_at,
        coalesce(%(lineage)s::uuid, g.id) as lineage,
        %(retry_of)s::uuid as retry_of,
        %(retry_reason)s,
        %(plan)s::uuid as plan,
        %(recovery)s::uuid as recovery,
        %(depth)s,
        %(effect)s,
        1 as event_sequence
    from given as g
    on conflict do nothing
    returning family, id, tenant, requested_at
),

steps as (
    insert into jobs.job_steps (family, job, position, tenant, step, label, use_case, undo, moves, weight)
    select
        a.family,
        a.id,
        s.position,
        a.tenant,
        s.step,
        s.label,
        s.use_case,
        s.undo,
        s.moves,
        s.weight
    from added as a
    cross join unnest(
        %(steps)s::text[],
        %(labels)s::text[],
        %(use_cases)s::text[],
        %(undos)s::text[],
        %(moves_of)s::text[],
        %(weights)s::smallint[]
    ) with ordinality as s (step, label, use_case, undo, moves, weight, position)
),

told as (
    insert into jobs.job_events (family, job, sequence, tenant, at, kind, status, progress, sentence, person, detail)
    select
        a.family,
        a.id,
        1 as sequence,
        a.tenant,
        a.requested_at,
        'submitted' as kind,
        'pending' as status,
        0 as progress,
        %(sentence)s,
        %(person)s,
        %(detail)s
    from added as a
)

select
    a.id::text as id,
    case when %(engine)s then jobs.hand_over(a.family, a.id)::text end as handed_over
from added as a
