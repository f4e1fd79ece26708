-- Dead letters that nobody put away, by schedule of a tenant: of at most so many of each tenant, the newest. `recent`:
-- within the last hour; `before`: in the day before that hour (index occurrences_dead alone).
select
    t.id as tenant,
    d.schedule,
    count(*) as count,
    min(d.ended_at) as since,
    count(*) filter (where d.ended_at > (select jobs.now()) - interval '1 hour') as recent,
    count(*) filter (
        where
        d.ended_at > (select jobs.now()) - interval '25 hours'
        and d.ended_at <= (select jobs.now()) - interval '1 hour'
    ) as before
from jobs.tenants as t
cross join
    lateral (
        select
            o.schedule,
            o.ended_at
        from jobs.occurrences as o
        where o.tenant = t.id and o.state = 'dead-letter' and o.discarded_at is null
        order by o.ended_at desc, o.id desc
        limit %(most)s
    ) as d
group by t.id, d.schedule
