-- The next row of a recovery that is being applied, locked: no row where as many run as may, or its tenant is stopped.
-- One that moves money waits while money is stopped, or the bulk command whose payouts it brings forward: it would find
-- nothing, and count as done. To cancel jobs waits for nothing. The recovery is locked.
with room as materialized (
    select count(*) as running
    from jobs.recovery_rows as k
    where k.tenant = %(tenant)s and k.recovery = %(recovery)s::uuid and k.turn = 'running'
)

select
    w.number,
    w.key,
    w.target,
    w.name,
    w.schedule,
    w.moves,
    w.scheduled_at,
    w.row_version
from jobs.recovery_rows as w
cross join room as r
where
    w.tenant = %(tenant)s
    and w.recovery = %(recovery)s::uuid
    and w.turn = 'not-started'
    and (
        %(cancels)s
        or (r.running < %(at_once)s and not jobs.stopped(%(tenant)s, 'tenant', %(tenant)s))
    )
    and not (
        w.moves = 'money'
        and (
            exists (
                select 1
                from jobs.money_switches as m
                where m.tenant = %(tenant)s and m.stopped
            )
            or exists (
                select 1
                from unnest(%(schedules)s::text[], %(commands)s::text[]) as g (schedule, command)
                inner join jobs.stops as p on g.command = p.name
                where g.schedule = w.schedule and p.tenant = %(tenant)s and p.scope = 'bulk-command'
            )
        )
    )
order by w.number
limit 1
for update of w
