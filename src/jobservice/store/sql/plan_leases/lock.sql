-- Locks the plans that this process holds, so that their leases are judged after the wait.
select p.id
from jobs.plans as p
where p.id = any(%(plans)s) and p.holder = %(holder)s
order by p.id
for update
