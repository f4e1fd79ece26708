-- Schedules of all tenants, behind a place, with something past their retention: an occurrence that ended, or an
-- instant that never ran.
with kept as (
    select
        s.tenant,
        s.schedule,
        %(now)s::timestamptz - make_interval(secs => s.kept_seconds) as until
    from jobs.schedules as s
    where
        s.kept_seconds is not null
        and (s.tenant, s.schedule) > (%(tenant_after)s::text, %(schedule_after)s::text)
)

select
    g.tenant,
    g.schedule,
    g.until
from kept as g
where
    exists (
        select 1
        from jobs.occurrences as o
        where
            o.tenant = g.tenant
            and o.schedule = g.schedule
            and o.scheduled_at <= g.until
            and o.state in ('completed', 'dead-letter')
    )
    or exists (
        select 1
        from jobs.skipped_instants as k
        where
            k.tenant = g.tenant
            and k.schedule = g.schedule
            and k.first_at <= g.until
            and k.last_at <= g.until
    )
order by g.tenant, g.schedule
limit %(most)s
