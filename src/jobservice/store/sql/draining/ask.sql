-- Asks a Worker to take nothing new; it is one that has not ended, and another one takes work.
update jobs.workers as w
set drain_asked_at = jobs.now(), drain_asked_by = %(person)s, drain_reason = %(reason)s
where
    w.incarnation = %(worker)s::uuid
    and w.stopped_at is null
    and w.drain_asked_at is null
    and exists (
        select 1
        from jobs.workers as o
        where
            o.incarnation <> w.incarnation
            and o.stopped_at is null
            and o.draining_at is null
            and o.drain_asked_at is null
            and o.beat_at > jobs.now() - make_interval(secs => %(silent)s)
    )
returning w.drain_asked_at
