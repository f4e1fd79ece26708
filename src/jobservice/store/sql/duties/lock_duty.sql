-- Locks a duty's row without waiting, so that its lease is judged after the lock; no row where another one has it.
select
    holder,
    fence,
    expires_at is null or expires_at <= jobs.now() as free,
    finished_at is null or finished_at + make_interval(secs => %(every)s) <= jobs.now() as due
from jobs.duties
where name = %(name)s
for update skip locked
