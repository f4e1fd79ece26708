-- One page of what is not in a plan, in the order of the reasons, then of the ids.
select
    e.item::text as item,
    e.title,
    e.amount_minor,
    e.currency,
    e.payee_id,
    e.payee_name,
    right(e.account, 4) as account_last4,
    e.reason,
    e.who,
    coalesce(w.name, e.who) as who_name,
    e.sentence,
    array_position(%(reasons)s::text[], e.reason) as place
from jobs.plan_exclusions as e
left join jobs.people as w on e.who = w.id
where
    e.tenant = %(tenant)s
    and e.plan = %(plan)s::uuid
    and (array_position(%(reasons)s::text[], e.reason), e.item) > (%(place)s::integer, %(item)s::uuid)
order by array_position(%(reasons)s::text[], e.reason), e.item
limit %(most)s + 1
