-- Which item has a business key, for the refusal that names it.
select
    i.id,
    i.queue
from jobs.items as i
where
    i.tenant = %(tenant)s
    and i.business_key = %(key)s
    and (%(customers)s::text[] is null or i.customer = any(%(customers)s::text[]))
    and (%(workspaces)s::text[] is null or i.workspace = any(%(workspaces)s::text[]))
