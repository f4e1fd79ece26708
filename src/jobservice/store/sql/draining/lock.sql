-- Locks every Worker that may take work, and the one that is asked, in one order: of two who drain at once, the second
-- sees what the first did.
select w.incarnation
from jobs.workers as w
where w.stopped_at is null or w.incarnation = %(worker)s::uuid
order by w.incarnation
for no key update of w
