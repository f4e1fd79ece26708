-- Gives back the items of a plan that had no turn, each under the plan's hold and fence.
update jobs.items as i
set
    holder = null,
    taken_at = null,
    expires_at = null,
    plan = null,
    plan_name = null,
    held = false,
    row_version = i.row_version + 1
from jobs.plan_items as t
where
    t.tenant = %(tenant)s
    and t.plan = %(plan)s::uuid
    and t.turn in ('not-started', 'waiting')
    and i.id = t.item
    and i.tenant = %(tenant)s
    and i.plan = t.plan
    and i.holder = %(owner)s
    and i.fence = t.fence
