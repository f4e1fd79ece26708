-- Forgets the secret that was being enrolled.
update jobs.codes
set pending_key_id = null, pending_sealed = null, pending_at = null
where person = %(person)s and pending_key_id is not null
