-- How the plan of a locked job stands: once it is accounted for it stays as it is. Nulls where it is not there.
select
    j.plan::text as plan,
    p.state,
    coalesce(p.accounted_at is not null, false) as accounted,
    p.reason,
    extract(epoch from jobs.now() - j.activity_at)::double precision as quiet
from jobs.jobs as j
left join jobs.plans as p on j.plan = p.id and j.tenant = p.tenant
where j.family = %(family)s and j.id = %(job)s::uuid and j.tenant = %(tenant)s
