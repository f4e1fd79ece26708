-- How many unresolved failures a tenant has, counted to `most` + 1 at the most.
select count(*) as many
from (
    select j.id
    from jobs.jobs as j
    where
        j.tenant = %(tenant)s
        and j.status = 'failed'
        and case when j.resolution is null then 'none' else j.resolution end = 'none' -- noqa: ST02
    order by j.id desc
    limit %(most)s + 1
) as c
