-- Gives a lease back, its attempt uncounted: another Worker may start it at once. One that ran out, too, where that is
-- excused and nobody took it over: while the database was away nobody could renew. Too late, it leaves one row that
-- says so, and the attempt counts as lost when it is taken over.
with locked as materialized (
    select
        o.id,
        o.tenant,
        o.attempts,
        o.replays,
        o.holder,
        o.taken_at,
        o.expires_at,
        o.renewals,
        o.attempt_started_at
    from jobs.occurrences as o
    where o.id = %(occurrence)s and o.tenant = %(tenant_of)s
    for update of o
),

returned as (
    update jobs.occurrences as o
    set
        state = 'scheduled',
        holder = null,
        taken_at = null,
        expires_at = null,
        renewals = 0,
        attempts = o.attempts - 1,
        attempt_started_at = null,
        due_at = jobs.now(),
        error = %(error)s,
        version = o.version + 1
    from locked as l
    where
        o.id = l.id
        and o.holder = %(holder)s
        and o.fence = %(held_fence)s
        and (l.expires_at > jobs.now() or %(expired_too)s)
    returning o.id, o.tenant, o.schedule, o.fence
),

kept as (
    insert into jobs.occurrence_attempts (
        occurrence, fence, tenant, attempt, worker, taken_at, started_at, expires_at, renewals, ended_at, ending, error,
        replay
    )
    select
        r.id,
        r.fence,
        r.tenant,
        l.attempts,
        l.holder,
        l.taken_at,
        coalesce(l.attempt_started_at, l.taken_at + make_interval(secs => %(began_after)s)) as began_at,
        l.expires_at,
        l.renewals,
        jobs.now() as now,
        'handed-back' as ending,
        %(error)s as sentence,
        l.replays
    from returned as r
    inner join locked as l on r.id = l.id
),

late as (
    insert into jobs.refused_completions (tenant, occurrence, worker, fence, what)
    select
        %(tenant_of)s as tenant,
        %(occurrence)s as id,
        %(holder)s as worker,
        %(held_fence)s as fence,
        'hand-back' as what
    where not exists (select 1 from returned)
)

select
    r.tenant,
    r.schedule
from returned as r
