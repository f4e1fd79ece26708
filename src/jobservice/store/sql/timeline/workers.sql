-- Worker processes as they started, drained, stopped or fell silent; they work for every tenant.
with told as (
    select
        w.started_at as at,
        w.incarnation::text || '/started' as key,
        'started' as what,
        w.incarnation::text as worker,
        w.host,
        w.version
    from jobs.workers as w
    where w.started_at is not null
    union all
    select
        w.draining_at as at,
        w.incarnation::text || '/draining' as key,
        'draining' as what,
        w.incarnation::text as worker,
        w.host,
        w.version
    from jobs.workers as w
    where w.draining_at is not null
    union all
    select
        w.stopped_at as at,
        w.incarnation::text || '/stopped' as key,
        'stopped' as what,
        w.incarnation::text as worker,
        w.host,
        w.version
    from jobs.workers as w
    where w.stopped_at is not null
    union all
    select
        w.beat_at as at,
        w.incarnation::text || '/silent' as key,
        'silent' as what,
        w.incarnation::text as worker,
        w.host,
        w.version
    from jobs.workers as w
    where w.stopped_at is null and w.beat_at < jobs.now() - make_interval(secs => %(silent)s)
)

select
    t.at,
    t.key,
    t.what,
    t.worker,
    t.host,
    t.version
from told as t
where
    t.at >= %(begin)s::timestamptz
    and t.at < %(until)s::timestamptz
    and (%(mark)s::text is null or t.at > %(begin)s::timestamptz or t.key > %(mark)s::text)
order by t.at, t.key
limit %(most)s + 1
