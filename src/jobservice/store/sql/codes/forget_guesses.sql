-- Forgets a person's counted wrong codes.
delete from jobs.code_failures
where person = %(person)s
