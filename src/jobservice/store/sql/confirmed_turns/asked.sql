-- Who asked for an occurrence that is held under a lease: its rhythm alone, or a person, by which recovery.
select
    o.replays,
    o.origin,
    o.recovery
from jobs.occurrences as o
where
    o.id = %(occurrence)s
    and o.tenant = %(tenant)s
    and o.state = 'processing'
    and o.holder = %(holder)s
    and o.fence = %(held_fence)s
