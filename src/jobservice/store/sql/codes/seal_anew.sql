-- Keeps a person's secrets as another key sealed them.
update jobs.codes
set
    key_id = %(key_id)s,
    sealed = %(sealed)s,
    pending_key_id = %(pending_key_id)s,
    pending_sealed = %(pending_sealed)s
where person = %(person)s
