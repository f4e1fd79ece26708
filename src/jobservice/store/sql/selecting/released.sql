-- Payouts that went out in a stretch of time, in the order of their time and id, from a place on.
select
    r.item::text as item,
    i.queue,
    r.at,
    r.amount_minor,
    r.currency,
    r.payee_id,
    i.payee_name
from jobs.releases as r
inner join jobs.items as i on r.item = i.id
where
    r.tenant = %(tenant)s
    and i.tenant = %(tenant)s
    and r.at >= %(since)s
    and r.at < %(until)s
    and (r.at, r.item) > (%(after_at)s::timestamptz, %(after_item)s::uuid)
order by r.at, r.item
limit %(most)s
