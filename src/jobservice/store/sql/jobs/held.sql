-- The widest stop that lets no step of a job begin, whether the tenant's money is stopped, and why. After the locks.
select
    (
        select
            jsonb_build_object(
                'scope', s.scope,
                'name', s.name,
                'at', s.at,
                'by', s.by,
                'by_name', coalesce(p.name, s.by),
                'reason', s.reason,
                'version', s.version
            )
        from jobs.stops as s
        left join jobs.people as p on s.by = p.id
        where s.tenant = j.tenant and (s.scope = 'tenant' or (s.scope = 'job-kind' and s.name = j.kind))
        order by s.scope desc
        limit 1
    ) as stop,
    m.stopped as money_stopped,
    m.reason as money_reason,
    jobs.restored() as restored
from jobs.jobs as j
left join jobs.money_switches as m on j.tenant = m.tenant
where j.family = %(family)s and j.id = %(job)s::uuid and j.tenant = %(tenant)s
