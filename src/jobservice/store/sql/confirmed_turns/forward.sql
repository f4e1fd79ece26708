-- Makes the next try of a locked payout due now, under the lease of the occurrence, and wakes whoever applies its plan.
-- It stays that plan's turn: nothing but the time of the next try is written, and only where the plan was confirmed and
-- applies within its window, money is not stopped, and no stop holds the command or the tenant still.
update jobs.plan_items as t
set try_at = least(t.try_at, jobs.now())
from jobs.plans as p, jobs.money_switches as s
where
    t.tenant = %(tenant)s
    and t.plan = %(plan)s::uuid
    and t.number = %(number)s
    and t.turn = 'waiting'
    and p.id = t.plan
    and p.tenant = %(tenant)s
    and p.command = %(command)s
    and p.confirmed_at is not null
    and p.state = 'applying'
    and p.apply_until > jobs.now()
    and s.tenant = %(tenant)s
    and not s.stopped
    and not jobs.stopped(%(tenant)s, 'bulk-command', %(command)s)
    and exists (
        select 1
        from jobs.occurrences as o
        where
            o.id = %(occurrence)s
            and o.tenant = %(tenant)s
            and o.state = 'processing'
            and o.holder = %(holder)s
            and o.fence = %(held_fence)s
            and o.expires_at > jobs.now()
    )
returning
    p.name,
    pg_notify('jobs_work', 'plans')::text as woken
