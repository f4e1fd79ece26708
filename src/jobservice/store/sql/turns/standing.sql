-- How plan, lease, window, switch and hold stand for a turn that did not begin: what its locked rows do not say.
select
    p.state as plan_state,
    coalesce(p.holder = %(holder)s and p.fence = %(plan_fence)s and p.expires_at > jobs.now(), false) as plan_ours,
    p.apply_until > jobs.now() as window_open,
    s.reason as stopped,
    coalesce(
        i.plan = p.id and i.held and i.holder = p.owner and i.fence = t.fence and i.expires_at > jobs.now(), false
    ) as held
from jobs.plans as p
inner join jobs.money_switches as s on p.tenant = s.tenant
inner join jobs.plan_items as t on p.id = t.plan
inner join jobs.items as i on t.item = i.id
where p.tenant = %(tenant)s and p.id = %(plan)s::uuid and t.item = %(item)s::uuid
