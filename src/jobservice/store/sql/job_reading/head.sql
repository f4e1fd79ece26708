-- A job of the tenant as a line, with what its detail adds to it.
select
    l.*,
    j.kind_version,
    j.carrier,
    p.name as plan_name,
    j.failure_effect,
    j.failure_effect_state,
    j.cancel_asked_by,
    asker.name as cancel_asked_by_name,
    j.cancel_reason,
    j.resolved_at,
    j.resolved_by,
    resolver.name as resolved_by_name,
    j.resolution_reason,
    j.ticket,
    j.resolved_job::text as resolved_job,
    case when j.status = 'running' then j.holder::text end as worker,
    j.event_sequence as changes
from jobs.job_lines as l
inner join jobs.jobs as j on l.family = j.family and l.id = j.id
left join jobs.plans as p on j.plan = p.id
left join jobs.people as asker on j.cancel_asked_by = asker.id
left join jobs.people as resolver on j.resolved_by = resolver.id
where
    l.family = %(family)s
    and l.id = %(job)s::uuid
    and l.tenant = %(tenant)s
    and j.family = %(family)s
    and j.id = %(job)s::uuid
    and j.tenant = %(tenant)s
