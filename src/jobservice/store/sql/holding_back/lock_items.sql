-- Locks the items that unconfirmed plans hold, of all of them together in the order of their ids, as everybody does who
-- locks several: whoever plans the same items meanwhile waits, and nobody waits in a ring.
select count(*) as items
from (
    select i.id
    from jobs.items as i
    where i.plan = any(%(plans)s::uuid[]) and i.holder = %(owner)s and not i.held
    order by i.id
    for update
) as l
