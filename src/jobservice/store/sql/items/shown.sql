-- One item within reach as the JSON that goes over the wire, and what its detail adds.
with clock as (
    select jobs.now() as now
)

select
    jobs.item_json(i, p.name, c.now, %(exponents)s::jsonb) as item,
    i.payload,
    i.pushed_by,
    coalesce(q.name, i.pushed_by) as pushed_by_name,
    i.pushed_at,
    i.changed_at,
    case when i.expires_at > c.now then i.taken_at end as taken_at,
    c.now
from jobs.items as i
cross join clock as c
left join jobs.people as p on i.holder = p.id
left join jobs.people as q on i.pushed_by = q.id
where
    i.id = %(item)s::uuid
    and i.tenant = %(tenant)s
    and jobs.in_reach(i, %(customers)s::text[], %(workspaces)s::text[])
