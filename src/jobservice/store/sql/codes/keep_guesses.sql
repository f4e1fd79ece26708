-- Keeps what is counted of a person's guesses; its reader holds the row's lock.
update jobs.codes
set
    in_a_row = %(in_a_row)s,
    locks = %(locks)s,
    locked_until = %(locked_until)s,
    locked_for_good = %(locked_for_good)s
where person = %(person)s
