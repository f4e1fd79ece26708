-- One batch of a queue's open items whose scores are due anew, the longest due first, from a place on: each comes once
-- a run, also where somebody works on it. Nothing is locked.
select
    i.id,
    i.created,
    i.title,
    i.amount_minor,
    i.currency,
    i.payee_id,
    i.payee_name,
    i.account,
    i.inputs,
    i.money_version,
    i.scored_at,
    i.rescore_at
from jobs.items as i
where
    i.tenant = %(tenant)s
    and i.queue = %(queue)s
    and i.closed_at is null
    and i.rescore_at <= %(until)s
    and (i.rescore_at, i.id) > (%(after_due)s::timestamptz, %(after_id)s::uuid)
order by i.rescore_at, i.id
limit %(batch)s
