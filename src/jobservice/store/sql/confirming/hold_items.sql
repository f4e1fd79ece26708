-- Moves the items of a plan from its owner's claim into the plan's hold, with a raised fence: until its turn, the abort
-- or the end of the window nobody else can do anything to them (MONEY.md 18).
update jobs.items as i
set
    held = true,
    fence = i.fence + 1,
    expires_at = %(until)s,
    row_version = i.row_version + 1
from jobs.plan_items as t
where
    t.tenant = %(tenant)s
    and t.plan = %(plan)s::uuid
    and i.id = t.item
    and i.tenant = t.tenant
    and i.plan = t.plan
    and not i.held
    and i.holder = %(owner)s
    and i.fence = t.fence
