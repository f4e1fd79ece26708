-- Closes the account of a plan that has ended and has no running turn, and gives its lease back.
update jobs.plans as p
set accounted_at = jobs.now(), holder = null, expires_at = null, version = p.version + 1
where
    p.tenant = %(tenant)s
    and p.id = %(plan)s::uuid
    and p.holder = %(holder)s
    and p.fence = %(plan_fence)s
    and p.state in ('done', 'aborted', 'lapsed')
    and p.accounted_at is null
    and not exists (
        select 1
        from jobs.plan_items as t
        where t.plan = p.id and t.turn = 'running'
    )
returning p.name, p.owner, p.state, p.reason, p.version, p.queue, p.command
