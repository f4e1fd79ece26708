-- Ends what a run has written and left without an outcome, but for some keys, for another run went past it: under the
-- occurrence's lease alone. Refused: nothing of it was done by this one.
update jobs.occurrence_items as i
set
    outcome = 'refused',
    sentence = %(sentence)s,
    fence = %(held_fence)s,
    ended_at = jobs.now()
where
    i.occurrence = %(occurrence)s
    and i.tenant = %(tenant)s
    and i.outcome is null
    and i.key <> all(%(keep)s::text[])
    and exists (
        select 1
        from jobs.occurrences as o
        where
            o.id = %(occurrence)s
            and o.tenant = %(tenant)s
            and o.state = 'processing'
            and o.holder = %(holder)s
            and o.fence = %(held_fence)s
            and o.expires_at > jobs.now()
    )
