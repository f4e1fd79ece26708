-- Gives back, uncounted, what was claimed for this Worker and the Worker never learned of: the claim was committed and
-- its answer got lost. Not what it holds (occurrence and fence), nor what was ever renewed. What ran out, too, where
-- that is excused: see hand_back.sql. Locks first and compares after.
with held as materialized (
    select
        h.id,
        h.fence
    from unnest(%(ids)s::uuid[], %(fences)s::bigint[]) as h (id, fence)
),

locked as materialized (
    select
        o.id,
        o.fence,
        o.attempts,
        o.replays,
        o.taken_at,
        o.expires_at
    from jobs.occurrences as o
    where
        o.holder is not null
        and o.holder = %(holder)s
        and o.renewals = 0
        and not exists (
            select 1
            from held as h
            where h.id = o.id and h.fence = o.fence
        )
    order by o.id
    for update of o
),

returned as (
    update jobs.occurrences as o
    set
        state = 'scheduled',
        holder = null,
        taken_at = null,
        expires_at = null,
        attempts = o.attempts - 1,
        attempt_started_at = null,
        due_at = jobs.now(),
        error = %(error)s,
        version = o.version + 1
    from locked as h
    where
        o.id = h.id
        and o.holder = %(holder)s
        and o.fence = h.fence
        and (h.expires_at > jobs.now() or %(expired_too)s)
    returning o.id, o.tenant, o.schedule, o.fence
),

kept as (
    insert into jobs.occurrence_attempts (
        occurrence, fence, tenant, attempt, worker, taken_at, expires_at, renewals, ended_at, ending, error, replay
    )
    select
        r.id,
        r.fence,
        r.tenant,
        l.attempts,
        %(holder)s as worker,
        l.taken_at,
        l.expires_at,
        0 as renewals,
        jobs.now() as now,
        'handed-back' as ending,
        %(error)s as sentence,
        l.replays
    from returned as r
    inner join locked as l on r.id = l.id
)

select
    r.tenant,
    r.schedule
from returned as r
