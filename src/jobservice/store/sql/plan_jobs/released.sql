-- The payouts of an ended plan that were done when its account was closed, in its order: the same ever after. What a
-- person said later of an uncertain one is not among them.
select
    t.item::text as item,
    t.amount_minor,
    t.currency,
    t.payee_name,
    t.account
from jobs.plan_items as t
inner join jobs.plans as p on t.plan = p.id and t.tenant = p.tenant
where
    t.tenant = %(tenant)s
    and t.plan = %(plan)s::uuid
    and t.turn = 'done'
    and t.ended_at <= p.accounted_at
order by t.number
