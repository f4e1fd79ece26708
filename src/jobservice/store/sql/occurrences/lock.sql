-- Locks one occurrence; everything is compared in later statements, after the wait.
select
    o.id::text as id,
    o.schedule,
    o.scheduled_at,
    o.state,
    o.cause,
    o.error,
    o.ended_at,
    o.cancel_asked_at,
    o.cancelled_by,
    coalesce(p.name, o.cancelled_by) as cancelled_by_name,
    o.cancel_reason
from jobs.occurrences as o
left join jobs.people as p on o.cancelled_by = p.id
where o.tenant = %(tenant)s and o.id = %(occurrence)s::uuid
for update of o
