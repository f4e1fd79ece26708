-- How many occurrences wait for another attempt, by schedule of a tenant.
select
    o.tenant,
    o.schedule,
    count(*) as count
from jobs.occurrences as o
where o.state = 'scheduled' and o.attempts > 0
group by o.tenant, o.schedule
