-- Gives a lease back; where a turn is still running, another Worker may take the plan at once and ask about it.
update jobs.plans as p
set
    holder = case when u.running then p.holder end,
    expires_at = case when u.running then jobs.now() end,
    version = p.version + 1
from (
    select count(*) > 0 as running
    from jobs.plan_items as t
    where t.plan = %(plan)s::uuid and t.turn = 'running'
) as u
where
    p.tenant = %(tenant)s
    and p.id = %(plan)s::uuid
    and p.holder = %(holder)s
    and p.fence = %(plan_fence)s
