-- Ends a plan of which every item had its turn.
update jobs.plans as p
set state = 'done', ended_at = jobs.now(), reason = null, version = p.version + 1
where
    p.tenant = %(tenant)s
    and p.id = %(plan)s::uuid
    and p.holder = %(holder)s
    and p.fence = %(plan_fence)s
    and p.state in ('applying', 'paused')
    and not exists (
        select 1
        from jobs.plan_items as t
        where t.plan = p.id and t.turn in ('not-started', 'waiting', 'running')
    )
