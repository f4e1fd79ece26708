-- Locks the first free item of a queue, in its order, that nobody else is taking just now (partial index items_free).
select i.id
from jobs.items as i
where
    i.tenant = %(tenant)s
    and i.queue = %(queue)s
    and i.closed_at is null
    and i.holder is null
    and (i.set_aside_until is null or i.set_aside_until <= %(now)s)
    and jobs.in_reach(i, %(customers)s::text[], %(workspaces)s::text[])
    and jobs.matches(i, %(filter)s::jsonb, %(now)s)
    and (%(currency)s::text is null or i.currency = %(currency)s::text)
order by case when %(currency)s::text is null then i.rank else i.amount_rank end, i.created, i.id
limit 1
for update of i skip locked
