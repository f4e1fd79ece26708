-- Freezes the rows of a recovery, by number, from occurrences and skipped instants: those named, or those of a stretch
-- that may have something to run. What is left out is counted by reason, and the first of it told. Where more would go
-- in than may, nothing is written, and `found` is more than the most.
with book as materialized (
    select
        b.schedule,
        b.moves,
        b.itself
    from jsonb_to_recordset(%(book)s) as b (schedule text, moves text, itself boolean)
),

asked as materialized (
    select
        a.place,
        a.text,
        a.id,
        a.schedule,
        a.at
    from jsonb_to_recordset(%(asked)s) as a (place integer, text text, id uuid, schedule text, at timestamptz)
),

named as materialized (
    select
        a.place,
        a.text,
        coalesce(a.schedule, '') as schedule,
        a.at,
        o.id
    from asked as a
    left join jobs.occurrences as o
        on
            o.tenant = %(tenant)s
            and (a.id = o.id or (a.schedule = o.schedule and a.at = o.scheduled_at))
),

ids as materialized (
    select n.id
    from named as n
    where n.id is not null
    union
    select o.id
    from jobs.occurrences as o
    where
        %(stretch)s
        and o.tenant = %(tenant)s
        and o.state = any(%(states)s::text[])
        and o.scheduled_at >= %(since)s
        and o.scheduled_at < %(until)s
        and (%(schedules)s::text[] is null or o.schedule = any(%(schedules)s::text[]))
        and (%(causes)s::text[] is null or o.cause = any(%(causes)s::text[]))
        and (not %(dead_only)s or o.discarded_at is null)
        and (
            o.state <> 'completed'
            or o.refused > 0
            or o.failed > 0
            or o.unfinished > 0
            or not o.selected_all
        )
),

taken as materialized (
    select
        coalesce(w.occurrence::text, w.key) as key,
        min(r.name) as name
    from jobs.recoveries as r
    inner join jobs.recovery_rows as w on r.id = w.recovery
    where
        r.tenant = %(tenant)s
        and (r.state in ('applying', 'paused', 'aborted') or (r.state = 'open' and r.valid_until > %(now)s))
        and r.over_at is null
        and (w.turn = 'running' or (w.turn = 'not-started' and r.state <> 'aborted'))
    group by coalesce(w.occurrence::text, w.key)
),

candidates as (
    select
        o.id::text as key,
        'occurrence' as target,
        o.schedule,
        o.scheduled_at,
        o.id as occurrence,
        o.state,
        o.cause,
        o.error,
        o.done,
        o.refused,
        o.failed,
        o.unfinished,
        o.selected_all,
        o.version,
        o.discarded_at
    from ids as i
    inner join jobs.occurrences as o on i.id = o.id
    where o.tenant = %(tenant)s
    union all
    select
        k.key,
        'skipped-instant' as target,
        k.schedule,
        k.at as scheduled_at,
        null as occurrence,
        null as state,
        null as cause,
        null as error,
        null as done,
        null as refused,
        null as failed,
        null as unfinished,
        null as selected_all,
        0 as version,
        null as discarded_at
    from jsonb_to_recordset(%(skips)s) as k (key text, schedule text, at timestamptz)
    where
        not exists (
            select 1
            from jobs.occurrences as o
            where o.tenant = %(tenant)s and o.schedule = k.schedule and o.scheduled_at = k.at
        )
),

judged as materialized (
    select
        c.*,
        coalesce(b.moves, 'nothing') as moves,
        -- A run that is its own item, and never came to its end, has counts of nothing: it is one that is not done.
        coalesce(
            b.itself and c.done + c.refused + c.failed + c.unfinished = 0 and not c.selected_all, false
        ) as undone,
        t.name as other,
        s.disabled_reason,
        coalesce(p.name, s.disabled_by) as disabled_by,
        case
            when s.floor_at >= c.scheduled_at then 'removed'
            when c.state in ('scheduled', 'processing') then 'not-ended'
            when %(dead_only)s and c.state <> 'dead-letter' then 'not-dead'
            when c.discarded_at is not null and (%(dead_only)s or %(stretch)s) then 'discarded'
            when %(runs)s and b.schedule is null then 'unrunnable'
            when
                %(runs)s
                and s.disabled_at is not null
                and (s.disabled_until is null or s.disabled_until > %(now)s)
                then 'disabled'
            when t.name is not null then 'in-recovery'
            when coalesce(b.moves, 'nothing') = 'money' and not %(may_money)s then 'money'
            when coalesce(b.moves, 'nothing') = 'nothing' and not %(may_others)s then 'permission'
        end as reason
    from candidates as c
    left join book as b on c.schedule = b.schedule
    left join jobs.schedules as s on s.tenant = %(tenant)s and c.schedule = s.schedule
    left join jobs.people as p on s.disabled_by = p.id
    left join taken as t on c.key = t.key
),

chosen as materialized (
    select j.*
    from judged as j
    where j.reason is null
    order by j.scheduled_at, j.schedule, j.key
    limit %(most)s + 1
),

sized as materialized (
    select count(*) as found
    from chosen
),

written as (
    insert into jobs.recovery_rows (
        recovery, number, tenant, key, target, name, schedule, moves, occurrence, scheduled_at, state, cause, error,
        done, refused, failed, unfinished, selected_all, row_version
    )
    select
        %(recovery)s::uuid,
        row_number() over (order by c.scheduled_at, c.schedule, c.key) as number,
        %(tenant)s,
        c.key,
        c.target,
        c.schedule || '@' || to_char(
            c.scheduled_at at time zone 'UTC',
            case
                when date_trunc('second', c.scheduled_at) = c.scheduled_at then 'YYYY-MM-DD"T"HH24:MI:SS"Z"'
                else 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'
            end
        ) as name,
        c.schedule,
        c.moves,
        c.occurrence,
        c.scheduled_at,
        c.state,
        c.cause,
        c.error,
        c.done,
        c.refused,
        c.failed,
        case when c.undone then 1 else c.unfinished end as unfinished,
        c.selected_all,
        c.version
    from chosen as c
    cross join sized as z
    where z.found <= %(most)s
),

missing as (
    select
        n.text,
        n.schedule,
        n.at,
        n.place,
        case when s.floor_at >= n.at then 'removed' else 'unknown' end as reason
    from named as n
    left join jobs.schedules as s on s.tenant = %(tenant)s and n.schedule = s.schedule
    where n.id is null
),

out_of_it as materialized (
    select
        null as text,
        j.schedule,
        j.scheduled_at,
        j.reason,
        j.state,
        j.disabled_by,
        j.disabled_reason,
        j.other,
        j.key
    from judged as j
    where j.reason is not null
    union all
    select
        m.text,
        m.schedule,
        m.at as scheduled_at,
        m.reason,
        null as state,
        null as disabled_by,
        null as disabled_reason,
        null as other,
        m.text as key
    from missing as m
)

select
    z.found,
    (
        select coalesce(jsonb_object_agg(g.reason, g.number), '{}')
        from (
            select
                w.reason,
                count(*) as number
            from out_of_it as w
            group by w.reason
        ) as g
    ) as left_out,
    (
        select
            coalesce(
                jsonb_agg(
                    jsonb_build_object(
                        'text', f.text, 'schedule', f.schedule, 'at', f.scheduled_at, 'reason', f.reason,
                        'state', f.state, 'disabled_by', f.disabled_by, 'disabled_reason', f.disabled_reason,
                        'recovery', f.other
                    )
                    order by f.scheduled_at, f.schedule, f.key
                ),
                '[]'
            )
        from (
            select w.*
            from out_of_it as w
            order by w.scheduled_at, w.schedule, w.key
            limit %(kept)s
        ) as f
    ) as kept
from sized as z
