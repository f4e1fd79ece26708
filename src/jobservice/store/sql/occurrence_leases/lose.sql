-- Ends attempts whose lease ran out, as lost, and with them the occurrence where it has a cause. One that may not start
-- now (its schedule is disabled, its tenant stopped) waits. Else this Worker claims it at once: the row stays under its
-- lock, with a higher fence and one attempt more. The rows are locked.
with given as materialized (
    select
        g.id,
        g.fence,
        g.cause,
        g.error,
        case
            when g.cause is not null then 'dead-letter'
            when g.waits then 'scheduled'
            else 'processing'
        end as state
    from unnest(
        %(ids)s::uuid[], %(fences)s::bigint[], %(causes)s::text[], %(errors)s::text[], %(waits)s::boolean[]
    ) as g (id, fence, cause, error, waits)
),

lost as materialized (
    select
        o.id,
        o.tenant,
        o.schedule,
        o.fence,
        o.attempts,
        o.replays,
        o.holder,
        o.taken_at,
        o.expires_at,
        o.renewals,
        o.attempt_started_at,
        g.cause,
        g.error,
        g.state,
        jobs.now() as now
    from jobs.occurrences as o
    inner join given as g on o.id = g.id and o.fence = g.fence
    where o.id = any(%(ids)s::uuid[]) and o.holder is not null and o.expires_at <= jobs.now()
    for update of o
),

kept as (
    insert into jobs.occurrence_attempts (
        occurrence, fence, tenant, attempt, worker, taken_at, started_at, expires_at, renewals, ended_at, ending, error,
        replay
    )
    select
        l.id,
        l.fence,
        l.tenant,
        l.attempts,
        l.holder,
        l.taken_at,
        l.attempt_started_at,
        l.expires_at,
        l.renewals,
        l.now,
        'lost' as ending,
        l.error,
        l.replays
    from lost as l
)

update jobs.occurrences as o
set
    state = l.state,
    holder = case when l.state = 'processing' then %(holder)s::uuid end,
    taken_at = case when l.state = 'processing' then l.now end,
    expires_at = case when l.state = 'processing' then l.now + make_interval(secs => %(lease)s) end,
    renewals = 0,
    fence = case when l.state = 'processing' then l.fence + 1 else l.fence end,
    attempts = case when l.state = 'processing' then l.attempts + 1 else l.attempts end,
    due_at = case when l.state = 'scheduled' then l.now else o.due_at end,
    started_at = coalesce(o.started_at, l.taken_at),
    attempt_started_at = null,
    ended_at = case when l.cause is not null then l.now end,
    cause = l.cause,
    error = l.error,
    version = o.version + 1
from lost as l
where o.id = l.id and o.id = any(%(ids)s::uuid[]) and o.holder = l.holder and o.fence = l.fence
returning
    o.id, o.tenant, o.schedule, o.scheduled_at, o.attempts, o.taken_at, o.fence, o.fence_base, o.position,
    o.selected_all, o.done, o.refused, o.failed, o.state, l.taken_at as lost_taken_at
