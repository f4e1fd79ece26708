-- Locks what a recovery's rows are about, in the order of ids, waiting for whoever has one: occurrences.
select count(*) as locked
from (
    select o.id
    from jobs.recovery_rows as w
    inner join jobs.occurrences as o on w.occurrence = o.id
    where w.tenant = %(tenant)s and w.recovery = %(recovery)s::uuid and o.tenant = %(tenant)s
    order by o.id
    for update of o
) as g
