-- Ends every token of a person.
update jobs.tokens set revoked_at = jobs.now()
where person = %(person)s and revoked_at is null
