-- How many alarms of a tenant are open, how many of them nobody looks after, and the Worker that was heard of last.
select
    count(*) as open,
    count(*) filter (where a.acknowledged_at is null) as unacknowledged,
    (
        select max(w.beat_at)
        from jobs.workers as w
        where w.stopped_at is null
    ) as beat_at,
    (
        select max(w.beat_at)
        from jobs.workers as w
    ) as last_at,
    jobs.now() as now
from jobs.alarms as a
where a.tenant = %(tenant)s and a.cleared_at is null
