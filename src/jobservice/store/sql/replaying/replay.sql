-- Has an ended occurrence run again, with attempts of its own: every item that is not done loses its outcome, and the
-- selection goes on where it was. Not before its own instant. A row of the replay says who asked, and how it had ended.
-- Only as it was read (version), where retention has not come past it and its schedule is not switched off. A run that
-- is its own item (itself) and never came to its end has counts of nothing, and is one item that is not done.
with earlier as materialized (
    select
        o.id,
        o.state,
        o.cause,
        o.ended_at,
        o.attempts,
        o.fence,
        greatest(
            o.refused + o.failed + o.unfinished, (%(itself)s and o.done = 0)::integer
        ) as not_done
    from jobs.occurrences as o
    where o.tenant = %(tenant)s and o.id = %(occurrence)s::uuid and o.state in ('completed', 'dead-letter')
),

again as (
    update jobs.occurrences as o
    set
        state = 'scheduled',
        due_at = greatest(jobs.now(), o.scheduled_at),
        miss_at = null,
        attempts = 0,
        replays = o.replays + 1,
        fence_base = o.fence,
        started_at = null,
        ended_at = null,
        cause = null,
        error = null,
        selected_all = false,
        refused = 0,
        failed = 0,
        unfinished = o.unfinished + o.refused + o.failed,
        recovery = %(recovery)s::uuid,
        cancel_asked_at = null,
        cancelled_by = null,
        cancel_reason = null,
        discarded_at = null,
        discarded_by = null,
        discard_reason = null,
        version = o.version + 1
    from earlier as e
    where
        o.id = e.id
        and o.tenant = %(tenant)s
        and o.id = %(occurrence)s::uuid
        and o.state in ('completed', 'dead-letter')
        and o.version = %(version)s
        and not exists (
            select 1
            from jobs.schedules as s
            where s.tenant = o.tenant and s.schedule = o.schedule and s.floor_at >= o.scheduled_at
        )
        and not jobs.switched_off(o.tenant, o.schedule)
    returning o.id, o.tenant, o.replays, o.version, o.due_at
),

items as (
    update jobs.occurrence_items as i
    set outcome = null, ended_at = null, try_at = null, attempts = 0
    from again as a
    where
        i.occurrence = a.id
        and i.occurrence = %(occurrence)s::uuid
        and i.tenant = %(tenant)s
        and i.outcome is distinct from 'done'
    returning i.number
),

counted as (
    select
        case
            when
                exists (
                    select 1
                    from jobs.occurrence_items as r
                    where r.occurrence = %(occurrence)s::uuid and r.tenant = %(tenant)s
                )
                then (select count(*) from items)
            else e.not_done
        end as not_done
    from earlier as e
),

kept as (
    insert into jobs.occurrence_replays (
        occurrence, replay, tenant, person, reason, recovery, state_before, cause_before, ended_before, attempts_before,
        fence_before, not_done
    )
    select
        a.id,
        a.replays,
        a.tenant,
        %(person)s,
        %(reason)s,
        %(recovery)s::uuid as part_of,
        e.state,
        e.cause,
        e.ended_at,
        e.attempts,
        e.fence,
        c.not_done
    from again as a
    cross join earlier as e
    cross join counted as c
)

select
    a.replays as replay,
    a.version,
    a.due_at,
    c.not_done
from again as a
cross join counted as c
