-- A Worker process lives, and says whether it takes nothing new: because a person asked, or because it ends
-- (`leaving`). One that may take again and does not end says so.
update jobs.workers as w
set
    beat_at = jobs.now(),
    draining_at = case
        when w.drain_asked_at is not null or %(leaving)s then coalesce(w.draining_at, jobs.now())
    end
where w.incarnation = %(incarnation)s and w.stopped_at is null
returning w.drain_asked_at is not null as drains
