-- Gives back the items of an aborted plan that had no turn, or wait for another: those it still holds under its fence.
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
    and t.turn = any(%(turns)s::text[])
    and i.id = t.item
    and i.tenant = t.tenant
    and i.plan = t.plan
    and i.held
    and i.holder = %(owner)s
    and i.fence = t.fence
