-- The jobs of a job's lineage, the first one first: at most so many, the latest of them.
select
    l.id::text as id,
    l.retry_of::text as retry_of,
    l.status,
    l.requested_at,
    l.requester,
    p.name as requester_name,
    l.retry_reason
from (
    select
        r.id,
        r.retry_of,
        r.status,
        r.requested_at,
        r.requester,
        r.retry_reason
    from jobs.jobs as j
    inner join jobs.jobs as r on j.family = r.family and j.lineage = r.lineage and j.tenant = r.tenant
    where j.family = %(family)s and j.id = %(job)s::uuid and j.tenant = %(tenant)s
    order by r.id desc
    limit %(most)s
) as l
left join jobs.people as p on l.requester = p.id
order by l.id
