-- Adds one row to the trail.
insert into jobs.audit (tenant, person, action, subject, outcome, detail, reference)
values (%(tenant)s, %(person)s, %(action)s, %(subject)s, %(outcome)s, %(detail)s, %(reference)s)
