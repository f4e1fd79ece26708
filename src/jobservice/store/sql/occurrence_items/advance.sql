-- Moves a run behind a batch that went well whole, in the transaction of its effects: under the occurrence's lease, and
-- from where this run left it.
update jobs.occurrences as o
set
    position = coalesce(%(position)s, o.position),
    selected_all = %(selected_all)s,
    done = o.done + %(added)s,
    version = o.version + 1
where
    o.id = %(occurrence)s
    and o.tenant = %(tenant)s
    and o.state = 'processing'
    and o.holder = %(holder)s
    and o.fence = %(held_fence)s
    and o.expires_at > jobs.now()
    and o.position is not distinct from %(was)s
