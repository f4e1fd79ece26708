-- How a Worker stands, and whether another one lives that takes work.
select
    w.incarnation::text as incarnation,
    w.host,
    w.beat_at,
    w.draining_at,
    w.stopped_at,
    w.drain_asked_at,
    coalesce(p.name, w.drain_asked_by) as drain_asked_by,
    w.drain_reason,
    exists(
        select 1
        from jobs.workers as o
        where
            o.incarnation <> w.incarnation
            and o.stopped_at is null
            and o.draining_at is null
            and o.drain_asked_at is null
            and o.beat_at > jobs.now() - make_interval(secs => %(silent)s)
    ) as others,
    jobs.now() as now
from jobs.workers as w
left join jobs.people as p on w.drain_asked_by = p.id
where w.incarnation = %(worker)s::uuid
