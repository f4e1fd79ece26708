-- Counts by hour, for every tenant, what ended from an hour on until now, and keeps it. What is counted again replaces
-- what was kept. Under the lease of the duty.
with held as materialized (
    select d.fence
    from jobs.duties as d
    where d.name = %(name)s and d.holder = %(holder)s and d.fence = %(fence)s
),

stretch as materialized (
    select
        t.id as tenant,
        h.hour
    from jobs.tenants as t
    cross join
        generate_series(
            %(since)s::timestamptz, date_trunc('hour', %(now)s::timestamptz, 'UTC'), interval '1 hour'
        ) as h (hour)
    where exists (select 1 from held)
),

counted as (
    select
        s.tenant,
        s.hour,
        (
            select count(*)
            from jobs.occurrence_attempts as a
            where
                a.tenant = s.tenant
                and a.ended_at >= s.hour
                and a.ended_at < s.hour + interval '1 hour'
                and a.ending = 'completed'
        ) as completed,
        (
            select count(*)
            from jobs.occurrences as o
            where
                o.tenant = s.tenant
                and o.state = 'dead-letter'
                and o.discarded_at is null
                and o.ended_at >= s.hour
                and o.ended_at < s.hour + interval '1 hour'
        ) as dead
    from stretch as s
),

missed as (
    select
        k.tenant,
        date_trunc('hour', k.decided_at, 'UTC') as hour,
        sum(k.count)::bigint as number
    from jobs.skipped_instants as k
    where
        k.policy in ('misfire-skip', 'misfire-once', 'misfire-each-interval')
        and k.decided_at >= %(since)s::timestamptz
    group by k.tenant, date_trunc('hour', k.decided_at, 'UTC')
)

insert into jobs.hourly_tallies as t (tenant, hour, completed, dead, missed)
select
    c.tenant,
    c.hour,
    c.completed,
    c.dead,
    coalesce(m.number, 0) as missed
from counted as c
left join missed as m on c.tenant = m.tenant and c.hour = m.hour
where c.completed > 0 or c.dead > 0 or m.number > 0
on conflict (tenant, hour) do update set
    completed = excluded.completed,
    dead = excluded.dead,
    missed = excluded.missed,
    counted_at = jobs.now()
where (t.completed, t.dead, t.missed) is distinct from (excluded.completed, excluded.dead, excluded.missed)
