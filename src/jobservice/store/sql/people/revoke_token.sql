-- Ends one token; no row back where there is none of that id, or it was revoked before.
update jobs.tokens set revoked_at = jobs.now()
where id = %(token)s and revoked_at is null
returning person
