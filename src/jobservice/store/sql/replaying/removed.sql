-- Whether retention has come past an instant of a schedule.
select s.floor_at
from jobs.schedules as s
where s.tenant = %(tenant)s and s.schedule = %(schedule)s and s.floor_at >= %(at)s::timestamptz
