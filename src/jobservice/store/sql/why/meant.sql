-- The one occurrence that a question is about: the one of that id; the one of that schedule and instant; else, of that
-- schedule, the oldest that waits, else what runs, else what is due next. No row where there is none.
with found as (
    select
        0 as place,
        o.id,
        o.scheduled_at
    from jobs.occurrences as o
    where o.tenant = %(tenant)s and o.id = %(occurrence)s::uuid
    union all
    select
        0 as place,
        o.id,
        o.scheduled_at
    from jobs.occurrences as o
    where
        o.tenant = %(tenant)s
        and o.schedule = %(schedule)s::text
        and o.scheduled_at = %(at)s::timestamptz
    union all
    (
        select
            1 as place,
            o.id,
            o.scheduled_at
        from jobs.occurrences as o
        where
            %(at)s::timestamptz is null
            and o.tenant = %(tenant)s
            and o.schedule = %(schedule)s::text
            and o.state = 'scheduled'
            and o.scheduled_at <= %(now)s::timestamptz
        order by o.scheduled_at, o.id
        limit 1
    )
    union all
    (
        select
            2 as place,
            o.id,
            o.scheduled_at
        from jobs.occurrences as o
        where
            %(at)s::timestamptz is null
            and o.tenant = %(tenant)s
            and o.schedule = %(schedule)s::text
            and o.state = 'processing'
        order by o.scheduled_at desc, o.id desc
        limit 1
    )
    union all
    (
        select
            3 as place,
            o.id,
            o.scheduled_at
        from jobs.occurrences as o
        where
            %(at)s::timestamptz is null
            and o.tenant = %(tenant)s
            and o.schedule = %(schedule)s::text
            and o.state = 'scheduled'
            and o.scheduled_at > %(now)s::timestamptz
        order by o.scheduled_at, o.id
        limit 1
    )
),

chosen as (
    select f.id
    from found as f
    order by f.place, f.scheduled_at
    limit 1
)

select
    o.id::text as id,
    o.schedule,
    o.scheduled_at,
    o.origin,
    o.lock,
    o.state,
    o.due_at,
    o.miss_at,
    o.attempts,
    o.replays,
    o.holder::text as holder,
    coalesce(w.host, '') as host,
    o.taken_at,
    o.expires_at,
    o.renewals,
    o.started_at,
    o.ended_at,
    o.cause,
    o.error,
    o.cancel_asked_at,
    o.cancelled_by,
    coalesce(p.name, o.cancelled_by) as cancelled_by_name,
    o.cancel_reason,
    o.discarded_at
from chosen as c
inner join jobs.occurrences as o on c.id = o.id and o.tenant = %(tenant)s
left join jobs.workers as w on o.holder = w.incarnation
left join jobs.people as p on o.cancelled_by = p.id
