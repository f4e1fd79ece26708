-- Ends a person's locks and forgets what was counted; the audit trail keeps each wrong code.
update jobs.codes
set in_a_row = 0, locks = 0, locked_until = null, locked_for_good = false
where person = %(person)s
