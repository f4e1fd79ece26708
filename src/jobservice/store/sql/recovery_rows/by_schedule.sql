-- How many rows of a recovery each schedule has, by what they move.
select
    w.schedule,
    w.moves,
    count(*)::integer as count
from jobs.recovery_rows as w
where w.tenant = %(tenant)s and w.recovery = %(recovery)s::uuid
group by w.schedule, w.moves
order by w.schedule, w.moves
