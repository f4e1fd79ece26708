-- A page of occurrences, the latest scheduled first, with one row more than asked for where there is more: one by its
-- id, those of one schedule, or of all. Each state is walked by itself along an index and the walks are merged, so that
-- a page costs a page whatever the states are. What the parameters leave out folds away.
with states as (
    select u.state
    from unnest(%(states)s::text[]) as u (state)
),

of_all as (
    select
        g.id,
        g.scheduled_at
    from states as s
    cross join
        lateral (
            select
                o.id,
                o.scheduled_at
            from jobs.occurrences as o
            where
                %(occurrence)s::uuid is null
                and %(schedule)s::text is null
                and o.tenant = %(tenant)s
                and o.state = s.state
                and o.scheduled_at >= %(since)s::timestamptz
                and o.scheduled_at < %(until)s::timestamptz
                and (o.scheduled_at, o.id) < (%(at)s::timestamptz, %(after)s::uuid)
            order by o.scheduled_at desc, o.id desc
            limit %(most)s + 1
        ) as g
),

of_one as (
    select
        g.id,
        g.scheduled_at
    from states as s
    cross join
        lateral (
            select
                o.id,
                o.scheduled_at
            from jobs.occurrences as o
            where
                %(occurrence)s::uuid is null
                and o.tenant = %(tenant)s
                and o.schedule = %(schedule)s::text
                and o.state = s.state
                and o.state <> 'completed'
                and o.scheduled_at >= %(since)s::timestamptz
                and o.scheduled_at < %(until)s::timestamptz
                and (o.scheduled_at, o.id) < (%(at)s::timestamptz, %(after)s::uuid)
            order by o.scheduled_at desc, o.id desc
            limit %(most)s + 1
        ) as g
),

completed as (
    select
        o.id,
        o.scheduled_at
    from jobs.occurrences as o
    where
        %(occurrence)s::uuid is null
        and 'completed' = any(%(states)s::text[])
        and o.tenant = %(tenant)s
        and o.schedule = %(schedule)s::text
        and o.state = 'completed'
        and o.scheduled_at >= %(since)s::timestamptz
        and o.scheduled_at < %(until)s::timestamptz
        and (o.scheduled_at, o.id) < (%(at)s::timestamptz, %(after)s::uuid)
    order by o.scheduled_at desc
    limit %(most)s + 1
),

found as (
    select
        o.id,
        o.scheduled_at
    from jobs.occurrences as o
    where o.tenant = %(tenant)s and o.id = %(occurrence)s::uuid
    union all
    select * from of_all
    union all
    select * from of_one
    union all
    select * from completed
),

chosen as (
    select f.id
    from found as f
    order by f.scheduled_at desc, f.id desc
    limit %(most)s + 1
)

select
    o.id::text as id,
    o.tenant,
    o.schedule,
    o.scheduled_at,
    o.origin,
    o.zone,
    o.local_time as local,
    o.clock,
    o.clock_policy,
    o.tzdata,
    o.state,
    o.due_at,
    o.attempts,
    o.holder::text as holder,
    coalesce(w.host, '') as host,
    o.taken_at,
    o.expires_at,
    o.renewals,
    o.fence,
    o.started_at,
    o.ended_at,
    o.selected_all,
    o.done,
    o.refused,
    o.failed,
    o.unfinished,
    o.cause,
    o.error,
    o.cancel_asked_at,
    o.cancelled_by,
    coalesce(p.name, o.cancelled_by) as cancelled_by_name,
    o.cancel_reason,
    o.version,
    o.replays,
    o.discarded_at,
    o.discarded_by,
    coalesce(q.name, o.discarded_by) as discarded_by_name,
    o.discard_reason
from chosen as c
inner join jobs.occurrences as o on c.id = o.id and o.tenant = %(tenant)s
left join jobs.workers as w on o.holder = w.incarnation
left join jobs.people as p on o.cancelled_by = p.id
left join jobs.people as q on o.discarded_by = q.id
order by o.scheduled_at desc, o.id desc
