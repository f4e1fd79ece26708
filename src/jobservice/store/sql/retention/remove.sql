-- Removes these occurrences, whose items are gone, with their attempts, replays and what was refused of them. What a
-- crash takes back is removed again: the commit does not wait for the disk.
with removed as (
    delete from jobs.occurrences as o
    where
        o.id = any(%(occurrences)s)
        and o.state in ('completed', 'dead-letter')
        and exists (
            select 1 from jobs.duties as d
            where d.name = %(name)s and d.holder = %(holder)s and d.fence = %(fence)s
        )
    returning o.id
),

attempts as (
    delete from jobs.occurrence_attempts as a
    using removed as r
    where a.occurrence = r.id
),

replays as (
    delete from jobs.occurrence_replays as a
    using removed as r
    where a.occurrence = r.id
),

refused as (
    delete from jobs.refused_completions as c
    using removed as r
    where c.occurrence = r.id
)

select
    count(*) as removed,
    set_config('synchronous_commit', 'off', true) as lazily
from removed
