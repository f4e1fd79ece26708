-- Locks a duty's row without waiting, so that its lease is judged after the lock; no row where another one has it. Free
-- is also what the asking holder holds itself: a run that it could not give back, which the raised fence shuts out.
select
    holder,
    fence,
    expires_at is null or expires_at <= jobs.now() or holder = %(holder)s as free,
    finished_at is null or finished_at + make_interval(secs => %(every)s) <= jobs.now() as due
from jobs.duties
where name = %(name)s
for update skip locked
