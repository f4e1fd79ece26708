-- Runs of instants that a misfire policy skipped and that reach into a stretch, with how many of their instants became
-- occurrences all the same: a recovery made those.
select
    k.schedule,
    k.first_at,
    k.last_at,
    k.count,
    (
        select count(*)
        from jobs.occurrences as o
        where
            o.tenant = %(tenant)s
            and o.schedule = k.schedule
            and o.scheduled_at >= greatest(k.first_at, %(since)s)
            and o.scheduled_at <= least(k.last_at, %(until)s)
            and o.scheduled_at < %(until)s
    ) as made
from jobs.skipped_instants as k
where
    k.tenant = %(tenant)s
    and (%(schedules)s::text[] is null or k.schedule = any(%(schedules)s::text[]))
    and k.policy in ('misfire-skip', 'misfire-once', 'misfire-each-interval')
    and k.first_at < %(until)s
    and k.last_at >= %(since)s
order by k.first_at, k.schedule
