-- Puts another secret in force, or none; spends the steps it was proved with. The last spent step never falls; locks
-- and counts stay.
update jobs.codes
set
    key_id = %(key_id)s,
    sealed = %(sealed)s,
    enrolled_at = case when %(key_id)s::text is null then null else jobs.now() end,
    rests_until = greatest(rests_until, case when %(rest)s > 0 then jobs.now() + make_interval(secs => %(rest)s) end),
    last_step = greatest(last_step, %(step)s),
    pending_key_id = null,
    pending_sealed = null,
    pending_at = null
where person = %(person)s
returning rests_until
