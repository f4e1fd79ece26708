-- What stands around an occurrence, or around an instant that has none: the schedule's row, who has its lock, what
-- waits before it there, the skipped run that covers it, the stop of the tenant, Workers and their free slots, a
-- recovery that it waits for. One row. What waits is counted to a most.
with clock as materialized (
    select %(now)s::timestamptz as now
),

waiting as (
    select
        g.schedule,
        g.scheduled_at,
        g.due_at
    from unnest(%(sharing)s::text[]) as u (schedule)
    cross join clock as c
    cross join lateral (
        select
            o.schedule,
            o.scheduled_at,
            o.due_at
        from jobs.occurrences as o
        where
            o.tenant = %(tenant)s
            and o.schedule = u.schedule
            and o.state = 'scheduled'
            and o.lock = %(lock)s
            and o.cancel_asked_at is null
            and (o.miss_at is null or o.miss_at > c.now)
            and o.due_at <= c.now
            and (o.due_at, o.id) < (%(due)s::timestamptz, %(occurrence)s::uuid)
        limit %(most)s -- noqa: AM09
    ) as g
),

before as (
    select
        count(*) as number,
        (array_agg(w.schedule order by w.due_at, w.scheduled_at))[1] as schedule,
        (array_agg(w.scheduled_at order by w.due_at, w.scheduled_at))[1] as scheduled_at
    from waiting as w
),

processes as (
    select
        count(*) filter (where k.lives and not k.drains) as live,
        count(*) filter (where k.lives and k.drains) as draining,
        count(*) filter (where not k.lives) as silent,
        coalesce(sum(k.slots) filter (where k.lives and not k.drains), 0)::bigint as slots,
        max(k.beat_at) as beat_at
    from (
        select
            w.slots,
            w.beat_at,
            w.beat_at >= c.now - make_interval(secs => %(silent)s) as lives,
            w.draining_at is not null or w.drain_asked_at is not null as drains
        from jobs.workers as w
        cross join clock as c
        where w.stopped_at is null
    ) as k
)

select
    s.schedule is not null as planned,
    s.planned_until,
    s.floor_at,
    s.parked_at,
    s.parked_reason,
    s.retired_at,
    s.disabled_at,
    s.disabled_until,
    s.disabled_by,
    coalesce(d.name, s.disabled_by) as disabled_by_name,
    s.disabled_reason,
    h.schedule as holder_schedule,
    h.scheduled_at as holder_at,
    h.holder::text as holder,
    h.host as holder_host,
    h.taken_at as holder_since,
    h.expires_at as holder_until,
    b.number as before,
    b.schedule as before_schedule,
    b.scheduled_at as before_at,
    k.policy as skip_policy,
    k.cause as skip_cause,
    k.first_at as skip_first,
    k.last_at as skip_last,
    k.count as skip_count,
    k.merged_into as skip_merged,
    k.decided_at as skip_decided,
    t.at as stop_at,
    coalesce(v.name, t.by) as stop_by,
    t.reason as stop_reason,
    p.live,
    p.draining,
    p.silent,
    p.slots,
    p.beat_at,
    jobs.slots_taken() as taken,
    r.name as recovery,
    r.state as recovery_state
from before as b
cross join processes as p
left join jobs.schedules as s on s.tenant = %(tenant)s and s.schedule = %(schedule)s
left join jobs.people as d on s.disabled_by = d.id
left join lateral ( -- noqa: ST05
    select
        o.schedule,
        o.scheduled_at,
        o.holder,
        coalesce(w.host, '') as host,
        o.taken_at,
        o.expires_at
    from jobs.occurrences as o
    left join jobs.workers as w on o.holder = w.incarnation
    where
        o.tenant = %(tenant)s
        and o.lock = %(lock)s
        and o.holder is not null
        and o.id <> %(occurrence)s::uuid
    order by o.tenant, o.lock
    limit 1
) as h on true
left join lateral ( -- noqa: ST05
    select n.*
    from (
        select i.*
        from jobs.skipped_instants as i
        where i.tenant = %(tenant)s and i.schedule = %(schedule)s and i.first_at <= %(at)s::timestamptz
        order by i.first_at desc, i.policy desc
        limit %(near)s
    ) as n
    where n.last_at >= %(at)s::timestamptz
    order by n.policy in ('skipped-hour', 'repeated-hour'), n.decided_at desc
    limit 1
) as k on true
left join jobs.stops as t on t.tenant = %(tenant)s and t.scope = 'tenant'
left join jobs.people as v on t.by = v.id
left join lateral ( -- noqa: ST05
    select
        g.name,
        g.state
    from jobs.recoveries as g
    inner join jobs.recovery_rows as w on g.id = w.recovery and w.tenant = %(tenant)s
    where
        g.tenant = %(tenant)s
        and g.state in ('applying', 'paused')
        and w.key = %(occurrence)s::uuid::text
        and w.turn = 'not-started'
    order by g.made_at
    limit 1
) as r on true
