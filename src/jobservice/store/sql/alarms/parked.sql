-- Schedules that cannot be computed, with the reason.
select
    s.tenant,
    s.schedule,
    s.parked_reason as reason,
    s.parked_at as since
from jobs.schedules as s
where s.parked_at is not null and s.retired_at is null
order by s.tenant, s.schedule
limit %(most)s
