-- A page of what is left out of a recovery, with one more than asked for where there is more.
select
    l.number,
    l.name,
    l.schedule,
    l.reason,
    l.sentence,
    l.scheduled_at
from jobs.recovery_left_out as l
where l.tenant = %(tenant)s and l.recovery = %(recovery)s::uuid and l.number > %(after)s
order by l.number
limit %(most)s + 1
