-- How many of some items are in a plan, and one that is not.
select
    count(i.item) as planned,
    min(a.id::text) filter (where i.item is null) as stranger
from unnest(%(items)s::uuid[]) as a (id)
left join jobs.plan_items as i on a.id = i.item and i.plan = %(plan)s::uuid and i.tenant = %(tenant)s
