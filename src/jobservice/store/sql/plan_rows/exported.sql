-- Some rows of a plan in the order of their numbers, for a file; of the account its last four alone.
select
    i.number,
    i.item::text as item,
    i.business_key,
    i.title,
    i.amount_minor,
    i.currency,
    i.payee_id,
    i.payee_name,
    right(i.account, 4) as account_last4,
    i.warned,
    i.turn,
    i.attempts,
    i.sentence,
    i.reference,
    i.ended_at
from jobs.plan_items as i
where i.tenant = %(tenant)s and i.plan = %(plan)s::uuid and i.number > %(after)s
order by i.number
limit %(most)s
