-- Pauses a plan that is not what was confirmed, or that cannot be applied as it was.
update jobs.plans as p
set state = 'paused', reason = %(reason)s, ended_by = null, version = p.version + 1
where
    p.tenant = %(tenant)s
    and p.id = %(plan)s::uuid
    and p.holder = %(holder)s
    and p.fence = %(plan_fence)s
    and p.state = 'applying'
returning p.version
