-- The next rows of a plan as they were frozen, and how far each is; in the order of their numbers.
select
    t.item::text as item,
    t.number,
    t.business_key,
    t.money_version,
    t.fence,
    t.account_mark,
    t.title,
    t.amount_minor,
    t.currency,
    t.payee_id,
    t.payee_name,
    t.account,
    t.inputs,
    t.turn,
    t.attempts,
    t.turn_fence,
    t.try_at
from jobs.plan_items as t
where t.tenant = %(tenant)s and t.plan = %(plan)s::uuid and t.number > %(after)s
order by t.number
limit %(most)s
