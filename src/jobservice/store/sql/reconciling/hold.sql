-- Holds the payouts of a plan that reconciling made: nobody claims, changes or plans them until a person says whether
-- they were paid.
update jobs.items as i
set
    holder = p.owner,
    taken_at = jobs.now(),
    expires_at = timestamptz '9999-12-31 00:00:00+00',
    fence = i.fence + 1,
    plan = p.id,
    plan_name = p.name,
    held = true,
    row_version = i.row_version + 1
from jobs.plan_items as t
inner join jobs.plans as p on t.plan = p.id
where t.tenant = %(tenant)s and t.plan = %(plan)s::uuid and i.id = t.item and i.fence = t.fence - 1
