-- Locks the items of a plan in the order of their ids, waiting for whoever has one; they are compared in a later
-- statement (MONEY.md 30). `turns`: those in such a turn alone.
with locked as materialized (
    select i.id
    from jobs.plan_items as t
    inner join jobs.items as i on t.item = i.id
    where t.tenant = %(tenant)s and t.plan = %(plan)s::uuid and t.turn = any(%(turns)s::text[])
    order by i.id
    for update of i
)

select count(*) as locked
from locked
