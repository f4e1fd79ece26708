-- Freezes the rows of a recovery that disables schedules, by number by their ids. What is left out is told.
with book as materialized (
    select b.schedule
    from jsonb_to_recordset(%(book)s) as b (schedule text)
),

taken as materialized (
    select
        w.key,
        min(r.name) as name
    from jobs.recoveries as r
    inner join jobs.recovery_rows as w on r.id = w.recovery
    where
        r.tenant = %(tenant)s
        and w.target = 'schedule'
        and w.turn = 'not-started'
        and (r.state in ('applying', 'paused') or (r.state = 'open' and r.valid_until > %(now)s))
    group by w.key
),

judged as materialized (
    select
        a.schedule,
        s.switched,
        t.name as other,
        s.disabled_reason,
        coalesce(p.name, s.disabled_by) as disabled_by,
        case
            when s.schedule is null then 'unknown'
            when b.schedule is null or s.retired_at is not null then 'unrunnable'
            when
                s.disabled_at is not null and (s.disabled_until is null or s.disabled_until > %(now)s)
                then 'disabled'
            when t.name is not null then 'in-recovery'
            when not %(may_others)s then 'permission'
        end as reason
    from (select distinct u.schedule from unnest(%(schedules)s::text[]) as u (schedule)) as a
    left join book as b on a.schedule = b.schedule
    left join jobs.schedules as s on s.tenant = %(tenant)s and a.schedule = s.schedule
    left join jobs.people as p on s.disabled_by = p.id
    left join taken as t on a.schedule = t.key
),

sized as materialized (
    select count(*) as found
    from judged as j
    where j.reason is null
),

written as (
    insert into jobs.recovery_rows (recovery, number, tenant, key, target, name, schedule, moves, row_version)
    select
        %(recovery)s::uuid,
        row_number() over (order by j.schedule) as number,
        %(tenant)s,
        j.schedule as key,
        'schedule' as target,
        j.schedule as name,
        j.schedule,
        'nothing' as moves,
        j.switched
    from judged as j
    cross join sized as z
    where j.reason is null and z.found <= %(most)s
)

select
    count(*) filter (where j.reason is null) as found,
    (
        select coalesce(jsonb_object_agg(g.reason, g.number), '{}')
        from (
            select
                w.reason,
                count(*) as number
            from judged as w
            where w.reason is not null
            group by w.reason
        ) as g
    ) as left_out,
    coalesce(
        jsonb_agg(
            jsonb_build_object(
                'text', j.schedule, 'schedule', j.schedule, 'at', null, 'reason', j.reason, 'state', null,
                'disabled_by', j.disabled_by, 'disabled_reason', j.disabled_reason, 'recovery', j.other
            )
            order by j.schedule
        ) filter (where j.reason is not null),
        '[]'
    ) as kept
from judged as j
