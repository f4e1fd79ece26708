-- Workers that did not stop in good order, and were heard of within a while.
select
    w.incarnation::text as incarnation,
    w.host,
    w.started_at,
    w.beat_at,
    w.draining_at is not null or w.drain_asked_at is not null as draining
from jobs.workers as w
where w.stopped_at is null and w.beat_at > jobs.now() - make_interval(secs => %(within)s)
order by w.beat_at, w.incarnation
limit %(most)s
