-- Moves the end of an open plan's claim on the items on which it still stands.
update jobs.items as i
set
    expires_at = %(until)s,
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
