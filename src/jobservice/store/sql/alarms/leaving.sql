-- Of these schedules: how many of their dead letters that nobody put away retention removes within a while, counted to
-- a most, and when the first of them goes.
select
    s.tenant,
    s.schedule,
    count(d.scheduled_at) as count,
    min(d.scheduled_at) + make_interval(secs => s.kept_seconds) as at
from unnest(%(tenants)s::text[], %(schedules)s::text[]) as g (tenant, schedule)
inner join jobs.schedules as s on g.tenant = s.tenant and g.schedule = s.schedule
cross join
    lateral (
        select o.scheduled_at
        from jobs.occurrences as o
        where
            o.tenant = s.tenant
            and o.schedule = s.schedule
            and o.state = 'dead-letter'
            and o.discarded_at is null
            and o.scheduled_at
            <= (select jobs.now()) - make_interval(secs => s.kept_seconds) + make_interval(secs => %(ahead)s)
        order by o.scheduled_at
        limit %(most)s
    ) as d
group by s.tenant, s.schedule, s.kept_seconds
