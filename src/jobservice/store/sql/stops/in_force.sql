-- The clock, and the widest stop that holds a queue, a bulk command or all work of a tenant still. Read after the locks
-- are had.
select
    jobs.now() as now,
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
        where
            s.tenant = %(tenant)s
            and (
                s.scope = 'tenant'
                or (s.scope = 'queue' and s.name = %(queue)s::text)
                or (s.scope = 'bulk-command' and s.name = %(command)s::text)
            )
        order by s.scope desc
        limit 1
    ) as stop
