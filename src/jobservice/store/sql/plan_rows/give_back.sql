-- Takes an open plan's claim off every item on which it still stands, under the fence with which it took it.
update jobs.items as i
set
    holder = null,
    taken_at = null,
    expires_at = null,
    plan = null,
    plan_name = null,
    row_version = i.row_version + 1
from jobs.plan_items as t
inner join jobs.plans as p on t.plan = p.id
where
    t.tenant = %(tenant)s
    and t.plan = %(plan)s::uuid
    and i.id = t.item
    and i.plan = t.plan
    and i.holder = p.owner
    and i.fence = t.fence
    and not i.held
