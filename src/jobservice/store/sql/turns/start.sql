-- Begins a turn whose rows are locked, where everything is as it was confirmed (MONEY.md 18, 19, 20): the plan and its
-- lease, the window, the switch, the stops, the hold, the version, what goes to whom, who touched it, the largest item;
-- and the plan's row as the Worker verified it. Nothing that may have been paid by another plan: unanswered, or sent
-- with other content under the same outward key (whoever asks by that key is told of that content).
update jobs.plan_items as t
set turn = 'running', attempts = t.attempts + 1, turn_fence = %(plan_fence)s, try_at = null
from jobs.plans as p, jobs.items as i, jobs.money_switches as s
where
    t.tenant = %(tenant)s
    and t.plan = %(plan)s::uuid
    and t.item = %(item)s::uuid
    and t.turn in ('not-started', 'waiting')
    and t.number = %(number)s
    and t.fence = %(fence)s
    and t.money_version = %(money_version)s
    and t.business_key is not distinct from %(business_key)s
    and t.title = %(title)s
    and t.amount_minor = %(amount_minor)s
    and t.currency = %(currency)s
    and t.payee_id = %(payee_id)s
    and t.payee_name = %(payee_name)s
    and t.account = %(account)s
    and p.id = t.plan
    and p.tenant = %(tenant)s
    and p.state = 'applying'
    and p.apply_until > jobs.now()
    and p.holder = %(holder)s
    and p.fence = %(plan_fence)s
    and p.expires_at > jobs.now()
    and s.tenant = %(tenant)s
    and not s.stopped
    and not jobs.stopped(p.tenant, 'bulk-command', p.command)
    and i.id = t.item
    and i.tenant = %(tenant)s
    and i.closed_at is null
    and i.plan = p.id
    and i.held
    and i.holder = p.owner
    and i.fence = t.fence
    and i.expires_at > jobs.now()
    and i.money_version = t.money_version
    and i.amount_minor = t.amount_minor
    and i.currency = t.currency
    and i.payee_id = t.payee_id
    and i.payee_name = t.payee_name
    and i.account = t.account
    and i.pushed_by <> p.owner
    and i.payment_changed_by is distinct from p.owner
    and t.amount_minor <= %(largest)s::bigint
    and i.about is null
    and not exists (
        select 1
        from jobs.plan_items as o
        where
            o.item = t.item
            and o.plan <> t.plan
            and (
                o.turn in ('running', 'uncertain')
                or (
                    o.turn = 'failed'
                    and (o.amount_minor, o.currency, o.account) <> (t.amount_minor, t.currency, t.account)
                    and exists (
                        select 1
                        from jobs.plan_evidence as e
                        where e.plan = o.plan and e.item = o.item and e.source = 'person'
                    )
                )
            )
    )
returning t.attempts
