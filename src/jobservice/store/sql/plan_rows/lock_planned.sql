-- Locks the items on which an open plan's claim stands, in the order of their ids, as everybody does who locks several.
select count(*) as items
from (
    select i.id
    from jobs.items as i
    where i.tenant = %(tenant)s and i.plan = %(plan)s::uuid and not i.held
    order by i.id
    for update of i
) as l
