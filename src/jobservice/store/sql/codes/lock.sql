-- A person's code row, locked until the end of the transaction; the clock is read by a later statement (MONEY.md 30).
select
    person,
    key_id,
    sealed,
    pending_key_id,
    pending_sealed,
    pending_at,
    enrolled_at,
    rests_until,
    last_step,
    in_a_row,
    locks,
    locked_until,
    locked_for_good
from jobs.codes
where person = %(person)s for update
