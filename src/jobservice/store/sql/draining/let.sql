-- Lets a Worker that was asked to take nothing new take work again; it says itself that it does.
update jobs.workers as w
set drain_asked_at = null, drain_asked_by = null, drain_reason = null
where w.incarnation = %(worker)s::uuid and w.stopped_at is null and w.drain_asked_at is not null
returning w.incarnation
