-- Dead letters that retention removes within a while, by schedule of a tenant: how many, and the latest of them.
select
    s.tenant,
    s.schedule,
    count(*) as count,
    max(o.scheduled_at) as latest
from jobs.schedules as s
inner join jobs.occurrences as o on s.tenant = o.tenant and s.schedule = o.schedule
where
    o.state = 'dead-letter'
    and o.discarded_at is null
    and o.scheduled_at
    <= %(now)s::timestamptz - make_interval(secs => s.kept_seconds) + make_interval(secs => %(ahead)s)
group by s.tenant, s.schedule
order by s.tenant, s.schedule
