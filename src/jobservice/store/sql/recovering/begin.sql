-- Writes what became of a row's beginning: it runs, or ended at once. It is found by its key or by its number: either
-- index finds one row, whatever the statistics say of a recovery that was made a moment ago. The index on turns is not
-- to tempt the planner, which would walk all that have not started (so `turn || ''`).
update jobs.recovery_rows as w
set
    turn = %(turn)s,
    sentence = %(sentence)s,
    started_at = jobs.now(),
    ended_at = case when %(turn)s <> 'running' then jobs.now() end,
    occurrence = coalesce(w.occurrence, %(occurrence)s::uuid),
    made = %(made)s::uuid
where
    w.tenant = %(tenant)s
    and w.recovery = %(recovery)s::uuid
    and w.key = %(key)s
    and w.number = %(number)s
    and w.turn || '' = 'not-started'
returning w.number
