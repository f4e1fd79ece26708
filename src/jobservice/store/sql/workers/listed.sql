-- Workers that live, and those that stopped or fell silent within a time, the newest first, with what each holds in one
-- tenant.
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
    jobs.now() as now
from jobs.workers as w
left join held as h on w.incarnation = h.holder
where coalesce(w.stopped_at, w.beat_at) > jobs.now() - make_interval(secs => %(keep)s)
order by w.started_at desc, w.incarnation desc
limit %(most)s
