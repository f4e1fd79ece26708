-- Locks occurrences that wait and that a person asked to cancel.
select
    o.id,
    o.tenant,
    o.schedule,
    o.attempts,
    extract(epoch from jobs.now() - o.due_at)::float8 as since
from jobs.occurrences as o
where o.cancel_asked_at is not null and o.state = 'scheduled'
order by o.cancel_asked_at
limit %(most)s
for update of o skip locked
