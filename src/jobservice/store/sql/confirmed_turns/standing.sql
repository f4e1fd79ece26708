-- Why a locked payout was not brought forward: how its turn, its plan, the switch and the stops stand.
select
    p.name,
    p.state,
    p.apply_until > jobs.now() as window_open,
    t.turn,
    coalesce(s.stopped, true) as money_stopped,
    jobs.stopped(%(tenant)s, 'bulk-command', %(command)s) as held_still
from jobs.plans as p
inner join jobs.plan_items as t on p.id = t.plan
left join jobs.money_switches as s on p.tenant = s.tenant
where p.tenant = %(tenant)s and p.id = %(plan)s::uuid and t.number = %(number)s
