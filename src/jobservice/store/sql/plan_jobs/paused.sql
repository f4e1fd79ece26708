-- Who paused a plan, and why; null where the Worker itself did. No row where it is not paused.
select
    coalesce(k.name, p.ended_by) as person,
    p.reason
from jobs.plans as p
left join jobs.people as k on p.ended_by = k.id
where p.tenant = %(tenant)s and p.id = %(plan)s::uuid and p.state = 'paused'
