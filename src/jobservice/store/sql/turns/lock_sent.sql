-- Locks a turn that was begun, and its item, to write how it ended.
select
    t.turn,
    t.attempts,
    t.turn_fence
from jobs.plan_items as t
inner join jobs.items as i on t.item = i.id
where t.tenant = %(tenant)s and t.plan = %(plan)s::uuid and t.item = %(item)s::uuid
for update of t, i
