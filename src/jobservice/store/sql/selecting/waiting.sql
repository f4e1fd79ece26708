-- Items of a queue that wait now, in the order of their ids, from a place on.
select
    i.id::text as id,
    i.queue,
    i.business_key,
    i.title,
    i.created,
    i.state,
    i.amount_minor,
    i.currency,
    i.payee_id,
    i.payee_name,
    i.account,
    i.inputs,
    i.money_version
from jobs.items as i
where
    i.tenant = %(tenant)s
    and i.queue = %(queue)s
    and jobs.in_view(i, 'waiting', %(now)s)
    and i.closed_at is null
    and i.id > %(after)s::uuid
order by i.id
limit %(most)s
