-- Where these schedules of a tenant stand, with counts to a most, and their last occurrences. One that has no row yet
-- is there too, with nulls.
with wanted as (
    select
        u.schedule,
        u.cursor
    from unnest(%(schedules)s::text[], %(cursors)s::text[]) as u (schedule, cursor)
)

select
    w.schedule,
    jobs.now() as now,
    s.schedule is not null as planned,
    s.parked_at,
    s.parked_reason,
    s.disabled_at,
    s.disabled_until,
    s.disabled_by,
    d.name as disabled_by_name,
    s.disabled_reason,
    s.last_scheduled_at,
    s.last_started_at,
    s.last_completed_at,
    coalesce(s.version, 0) as version,
    c.position,
    a.due_at as waiting_since,
    n.waiting,
    r.scheduled_at as running_at,
    r.taken_at as running_since,
    r.attempts as running_attempt,
    t.due_at as retry_at,
    t.scheduled_at as retry_of,
    t.attempts as retry_attempts,
    k.dead,
    f.called_off,
    l.recent,
    l.recent_at
from wanted as w
left join jobs.schedules as s on s.tenant = %(tenant)s and w.schedule = s.schedule and s.retired_at is null
left join jobs.people as d on s.disabled_by = d.id
left join jobs.cursors as c on c.tenant = %(tenant)s and w.cursor = c.name
left join lateral (
    select o.due_at
    from jobs.occurrences as o
    where
        o.tenant = %(tenant)s
        and o.schedule = w.schedule
        and o.state = 'scheduled'
        and o.started_at is null
        and o.cancel_asked_at is null
        and o.due_at <= %(now)s::timestamptz
    order by o.scheduled_at
    limit 1
) as a on true
left join lateral ( -- noqa: ST05
    select count(*) as waiting
    from (
        select 1 as one
        from jobs.occurrences as o
        where
            o.tenant = %(tenant)s
            and o.schedule = w.schedule
            and o.state = 'scheduled'
            and o.started_at is null
            and o.due_at <= %(now)s::timestamptz
        limit %(most)s -- noqa: AM09
    ) as g
) as n on true
left join lateral (
    select
        o.scheduled_at,
        o.taken_at,
        o.attempts
    from jobs.occurrences as o
    where o.tenant = %(tenant)s and o.schedule = w.schedule and o.state = 'processing'
    order by o.scheduled_at desc
    limit 1
) as r on true
left join lateral (
    select
        o.due_at,
        o.scheduled_at,
        o.attempts
    from jobs.occurrences as o
    where o.tenant = %(tenant)s and o.schedule = w.schedule and o.state = 'scheduled' and o.started_at is not null
    order by o.scheduled_at desc
    limit 1
) as t on true
left join lateral ( -- noqa: ST05
    select count(*) as dead
    from (
        select 1 as one
        from jobs.occurrences as o
        where o.tenant = %(tenant)s and o.schedule = w.schedule and o.state = 'dead-letter' and o.discarded_at is null
        limit %(most)s -- noqa: AM09
    ) as g
) as k on true
left join lateral (
    select array_agg(o.scheduled_at) as called_off
    from jobs.occurrences as o
    where
        o.tenant = %(tenant)s
        and o.schedule = w.schedule
        and o.scheduled_at > %(now)s::timestamptz
        and (o.state = 'dead-letter' or o.cancel_asked_at is not null)
) as f on true
left join lateral ( -- noqa: ST05
    select
        coalesce(json_agg(g.* order by g.scheduled_at)::text, '[]') as recent,
        max(g.scheduled_at) as recent_at
    from (
        select
            o.id,
            o.scheduled_at,
            o.state,
            o.attempts
        from jobs.occurrences as o
        where o.tenant = %(tenant)s and o.schedule = w.schedule and o.scheduled_at <= %(now)s::timestamptz
        order by o.scheduled_at desc
        limit %(recent)s
    ) as g
) as l on true
order by w.schedule
