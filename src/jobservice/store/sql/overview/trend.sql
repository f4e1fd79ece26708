-- What was counted of a tenant by hour, since an hour, the oldest first.
select
    t.hour,
    t.completed,
    t.dead,
    t.missed
from jobs.hourly_tallies as t
where t.tenant = %(tenant)s and t.hour >= %(since)s::timestamptz
order by t.hour
