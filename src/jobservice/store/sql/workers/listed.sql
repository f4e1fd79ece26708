-- Workers that live, and those that stopped or fell silent within a time (all, or one), the newest first, with what
-- each holds in one tenant.
with held as (
    select
        o.holder,
        count(*) as processing
    from jobs.occurrences as o
    where o.tenant = %(tenant)s and o.state = 'processing' and o.holder is not null
    group by o.holder
)

select
    w.incarnation::text as incarnation,
    w.host,
    w.version,
    w.started_at,
    w.beat_at,
    w.draining_at,
    w.stopped_at,
    w.slots,
    coalesce(h.processing, 0) as processing,
    w.drain_asked_at,
    w.drain_asked_by,
    coalesce(p.name, w.drain_asked_by) as drain_asked_by_name,
    w.drain_reason,
    jobs.now() as now
from jobs.workers as w
left join held as h on w.incarnation = h.holder
left join jobs.people as p on w.drain_asked_by = p.id
where
    (%(worker)s::uuid is null or w.incarnation = %(worker)s::uuid)
    and coalesce(w.stopped_at, w.beat_at) > jobs.now() - make_interval(secs => %(keep)s)
order by w.started_at desc, w.incarnation desc
limit %(most)s
