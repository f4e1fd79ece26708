-- How plan, lease, window, switch and hold stand for a turn that did not begin: what its locked rows do not say.
select
    p.state as plan_state,
    coalesce(p.holder = %(holder)s and p.fence = %(plan_fence)s and p.expires_at > jobs.now(), false) as plan_ours,
    p.apply_until > jobs.now() as window_open,
    case when s.tenant is null then 'the tenant has no switch' else s.reason end as stopped,
    (
        select h.reason
        from jobs.stops as h
        where
            h.tenant = p.tenant
            and (h.scope = 'tenant' or (h.scope = 'bulk-command' and h.name = p.command))
        order by h.scope desc
        limit 1
    ) as held_still,
    (
        select
            case
                when o.turn = 'failed'
                    then format(
                        'it was sent in %%s with another amount or account, under the key that it would have again: '
                        'push it anew, under another business key', q.name
                    )
                else format('it was sent in %%s, and nobody knows yet whether it was paid', q.name)
            end
        from jobs.plan_items as o
        inner join jobs.plans as q on o.plan = q.id
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
        order by o.turn = 'failed'
        limit 1
    ) as elsewhere,
    coalesce(
        i.plan = p.id and i.held and i.holder = p.owner and i.fence = t.fence and i.expires_at > jobs.now(), false
    ) as held
from jobs.plans as p
left join jobs.money_switches as s on p.tenant = s.tenant
inner join jobs.plan_items as t on p.id = t.plan
inner join jobs.items as i on t.item = i.id
where p.tenant = %(tenant)s and p.id = %(plan)s::uuid and t.item = %(item)s::uuid
