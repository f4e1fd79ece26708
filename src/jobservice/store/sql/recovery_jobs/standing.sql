-- A job as it stands when its row of a recovery has its turn, and the latest of its lineage, which may be another. It
-- is not locked: whoever acts on it locks in an order of its own, and judges once more.
select
    j.id::text as id,
    j.status,
    j.resolved_at,
    coalesce(p.name, j.resolved_by) as resolved_by,
    n.newest::text as newest,
    n.newest_status
from jobs.jobs as j
left join lateral (
    select
        l.id as newest,
        l.status as newest_status
    from jobs.jobs as l
    where l.family = j.family and l.lineage = j.lineage and l.tenant = %(tenant)s
    order by l.id desc
    limit 1
) as n on true
left join jobs.people as p on j.resolved_by = p.id
where j.tenant = %(tenant)s and j.id = %(job)s::uuid
