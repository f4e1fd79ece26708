-- Which item has a business key, for the refusal that names it.
select
    i.id,
    i.queue
from jobs.items as i
where
    i.tenant = %(tenant)s
    and i.business_key = %(key)s
    and jobs.in_reach(i, %(customers)s::text[], %(workspaces)s::text[])
