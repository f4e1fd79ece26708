-- The schedule of that id.
select
    'id' as matched,
    s.schedule as id,
    case
        when s.disabled_at is not null then 'disabled'
        when s.parked_at is not null then 'parked'
    end as state,
    s.last_scheduled_at as at
from jobs.schedules as s
where s.tenant = %(tenant)s and s.schedule = %(text)s
