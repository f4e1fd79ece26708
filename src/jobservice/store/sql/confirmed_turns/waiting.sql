-- The next payouts that wait to be tried again in plans of a command that were confirmed and apply, by plan and number;
-- none where the tenant's money is stopped, or a stop holds the command or the tenant still. Each plan is asked for no
-- more than one batch, so that a place far behind is found as quickly as the first.
select
    p.id::text as plan,
    p.name,
    t.number,
    t.title
from jobs.plans as p
cross join
    lateral (
        select
            w.number,
            w.title
        from jobs.plan_items as w
        where
            w.plan = p.id
            and w.tenant = %(tenant)s
            and w.turn = 'waiting'
            and w.number > case when p.id = %(after_plan)s::uuid then %(after_number)s::integer else 0 end
        order by w.number
        limit %(most)s
    ) as t
where
    p.tenant = %(tenant)s
    and p.command = %(command)s
    and p.state = 'applying'
    and p.apply_until > %(now)s
    and p.id >= %(after_plan)s::uuid
    and exists (
        select 1
        from jobs.money_switches as s
        where s.tenant = %(tenant)s and not s.stopped
    )
    and not jobs.stopped(%(tenant)s, 'bulk-command', %(command)s)
order by p.id, t.number
limit %(most)s
