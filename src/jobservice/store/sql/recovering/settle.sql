-- Writes how rows of a recovery ended, and lets go of their occurrences. Only rows that run.
with given as (
    select g.*
    from
        unnest(%(keys)s::text[], %(turns)s::text[], %(sentences)s::text[], %(ended)s::timestamptz[])
            as g (key, turn, sentence, ended_at)
),

settled as (
    update jobs.recovery_rows as w
    set turn = g.turn, sentence = g.sentence, ended_at = coalesce(g.ended_at, jobs.now())
    from given as g
    where
        w.tenant = %(tenant)s
        and w.recovery = %(recovery)s::uuid
        and w.key = g.key
        and w.turn = 'running'
    returning w.occurrence
),

let_go as (
    update jobs.occurrences as o
    set recovery = null
    from settled as s
    where o.id = s.occurrence and o.tenant = %(tenant)s and o.recovery = %(recovery)s::uuid
)

select count(*) as settled
from settled
