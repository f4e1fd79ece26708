-- The next payouts that wait to be tried again in plans of a command that were confirmed and apply, by plan and number;
-- none where the tenant's money is stopped, or a stop holds the command or the tenant still.
select
    p.id::text as plan,
    p.name,
    t.number,
    t.title
from jobs.plans as p
inner join jobs.plan_items as t on p.id = t.plan
where
    p.tenant = %(tenant)s
    and p.command = %(command)s
    and p.state = 'applying'
    and p.apply_until > %(now)s
    and t.tenant = %(tenant)s
    and t.turn = 'waiting'
    and (p.id, t.number) > (%(after_plan)s::uuid, %(after_number)s::integer)
    and exists (
        select 1
        from jobs.money_switches as s
        where s.tenant = %(tenant)s and not s.stopped
    )
    and not jobs.stopped(%(tenant)s, 'bulk-command', %(command)s)
order by p.id, t.number
limit %(most)s
