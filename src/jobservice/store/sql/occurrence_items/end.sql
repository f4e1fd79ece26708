-- Writes how a locked item ended, or that it is to be tried again (no outcome), under the occurrence's lease alone.
update jobs.occurrence_items as i
set
    outcome = %(outcome)s,
    attempts = i.attempts + 1,
    sentence = %(sentence)s,
    fence = %(held_fence)s,
    try_at = jobs.now() + make_interval(secs => %(after)s),
    ended_at = case when %(outcome)s::text is not null then jobs.now() end
where
    i.occurrence = %(occurrence)s
    and i.tenant = %(tenant)s
    and i.key = %(key)s
    and i.outcome is null
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
