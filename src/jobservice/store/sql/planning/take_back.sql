-- Takes back what is not due yet and nobody touched or replayed, of schedules that changed, are disabled, or are gone,
-- with the clock's skips that are not yet there.
with given as (
    select
        g.tenant,
        g.schedule
    from unnest(%(tenants)s::text[], %(schedules)s::text[]) as g (tenant, schedule)
    where
        exists (
            select 1 from jobs.duties as d
            where d.name = %(name)s and d.holder = %(holder)s and d.fence = %(fence)s
        )
),

skipped as (
    delete from jobs.skipped_instants as k
    using given as g
    where
        k.tenant = g.tenant
        and k.schedule = g.schedule
        and k.first_at > %(now)s::timestamptz
        and k.policy in ('skipped-hour', 'repeated-hour')
)

delete from jobs.occurrences as o
using given as g
where
    o.tenant = g.tenant
    and o.schedule = g.schedule
    and o.scheduled_at > %(now)s::timestamptz
    and o.state = 'scheduled'
    and o.origin = 'planned'
    and o.fence = 0
    and o.replays = 0
    and o.cancel_asked_at is null
