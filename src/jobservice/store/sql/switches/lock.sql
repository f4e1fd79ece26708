-- Locks the row of a schedule that a person switches off or on, against the planner too. The clock is read afterwards.
select s.version
from jobs.schedules as s
where s.tenant = %(tenant)s and s.schedule = %(schedule)s and s.retired_at is null
for no key update of s
