-- Counts over all tenants, each to a most, for the metrics: parked schedules, late occurrences, dead letters.
insert into jobs.figures (name, value, counted_at)
select
    f.name,
    f.value,
    jobs.now() as counted_at
from (
    select
        'schedules-parked' as name,
        (
            select count(*) from jobs.schedules as s
            where s.parked_at is not null
        ) as value
    union all
    select
        'occurrences-late' as name,
        (
            select count(*)
            from (
                select 1 as one
                from jobs.occurrences as o
                where
                    o.state = 'scheduled'
                    and o.started_at is null
                    and o.cancel_asked_at is null
                    and o.due_at <= (select jobs.now()) - make_interval(secs => %(late)s)
                order by o.tenant, o.due_at
                limit %(most)s
            ) as g
        ) as value
    union all
    select
        'dead-letters' as name,
        (
            select count(*)
            from
                (
                    select 1 as one from jobs.occurrences as o
                    where o.state = 'dead-letter' and o.discarded_at is null
                    order by o.tenant, o.ended_at limit %(most)s
                ) as g
        ) as value
) as f
on conflict (name) do update set value = excluded.value, counted_at = excluded.counted_at
