-- Locks the row of a payout that is to be brought forward, behind its plan (shared): whatever changed while that was
-- waited for is compared in the next statement.
with planned as materialized (
    select p.id
    from jobs.plans as p
    where p.tenant = %(tenant)s and p.id = %(plan)s::uuid
    for share of p
)

select t.turn
from planned as p
inner join jobs.plan_items as t on p.id = t.plan
where t.tenant = %(tenant)s and t.number = %(number)s
for no key update of t
