-- Counts the rows of a plan anew, from 1 in the byte order of their ids, after some were taken out.
update jobs.plan_items as p
set number = n.number
from (
    select
        i.item,
        row_number() over (order by i.item) as number
    from jobs.plan_items as i
    where i.plan = %(plan)s::uuid and i.tenant = %(tenant)s
) as n
where p.plan = %(plan)s::uuid and p.item = n.item and p.number <> n.number
