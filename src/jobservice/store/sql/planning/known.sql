-- The rows of schedules of some tenants, to be compared with the records.
select
    s.tenant,
    s.schedule,
    s.definition,
    s.kept_seconds,
    s.retired_at is not null as retired,
    s.parked_at is not null as parked
from jobs.schedules as s
where s.tenant = any(%(tenants)s)
order by s.tenant, s.schedule
