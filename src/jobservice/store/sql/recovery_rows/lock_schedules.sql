-- Locks the schedules that a recovery disables, in the order of their ids.
select count(*) as locked
from (
    select s.schedule
    from jobs.recovery_rows as w
    inner join jobs.schedules as s on w.key = s.schedule
    where
        w.tenant = %(tenant)s
        and w.recovery = %(recovery)s::uuid
        and w.target = 'schedule'
        and s.tenant = %(tenant)s
    order by s.schedule
    for update of s
) as g
