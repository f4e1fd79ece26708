-- What the requester of a job is told, the first outcome first.
select
    n.id::text as id,
    n.outcome,
    n.person,
    p.name as person_name,
    n.state,
    n.attempts,
    case when n.state in ('due', 'claimed') then n.try_at end as try_at,
    n.delivered_at,
    n.reason,
    n.result,
    n.corrects
from jobs.job_notices as n
left join jobs.people as p on n.person = p.id
where n.tenant = %(tenant)s and n.job = %(job)s::uuid
order by n.made_at, n.id
