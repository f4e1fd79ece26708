-- Counts the rows of a recovery anew, from 1, after some were taken out.
update jobs.recovery_rows as w
set number = n.number
from (
    select
        g.key,
        row_number() over (order by g.number) as number
    from jobs.recovery_rows as g
    where g.recovery = %(recovery)s::uuid and g.tenant = %(tenant)s
) as n
where w.recovery = %(recovery)s::uuid and w.key = n.key and w.number <> n.number
