-- What decides whether a requester is told: whether they are of the tenant and active, where they are told, and who
-- cancelled the job. No row where they are not of the tenant.
select
    p.active,
    p.contact,
    j.cancel_asked_by as cancelled_by
from jobs.people as p
left join jobs.jobs as j on j.family = %(family)s and j.id = %(job)s::uuid and j.tenant = %(tenant)s
where
    p.id = %(person)s
    and exists (
        select 1
        from jobs.memberships as m
        where m.person = p.id and m.tenant = %(tenant)s
    )
