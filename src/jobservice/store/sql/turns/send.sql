-- Writes that an item is about to go out, under its outward key; from now on its hold has no end of its own.
with sent as (
    update jobs.plan_items as t
    set outward_key = %(outward_key)s, sent_at = jobs.now()
    from jobs.plans as p
    where
        t.tenant = %(tenant)s
        and t.plan = %(plan)s::uuid
        and t.item = %(item)s::uuid
        and t.turn = 'running'
        and t.turn_fence = %(plan_fence)s
        and p.id = t.plan
        and p.holder = %(holder)s
        and p.fence = %(plan_fence)s
    returning t.item, t.fence, p.owner
)

update jobs.items as i
set expires_at = timestamptz '9999-12-31 00:00:00+00', row_version = i.row_version + 1
from sent as s
where
    i.id = s.item
    and i.tenant = %(tenant)s
    and i.plan = %(plan)s::uuid
    and i.held
    and i.holder = s.owner
    and i.fence = s.fence
