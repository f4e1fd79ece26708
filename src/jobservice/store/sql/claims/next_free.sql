-- Locks the oldest free item of a queue that nobody else is taking just now (partial index items_free).
select i.id
from jobs.items as i
where
    i.tenant = %(tenant)s
    and i.queue = %(queue)s
    and i.closed_at is null
    and i.holder is null
    and (i.set_aside_until is null or i.set_aside_until <= (select jobs.now()))
    and (%(customers)s::text[] is null or i.customer = any(%(customers)s::text[]))
    and (%(workspaces)s::text[] is null or i.workspace = any(%(workspaces)s::text[]))
order by i.created, i.id
limit 1
for update of i skip locked
