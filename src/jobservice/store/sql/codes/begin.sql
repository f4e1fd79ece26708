-- Keeps the secret that is being enrolled beside the one in force, which works until the new one has been proved.
insert into jobs.codes (person, pending_key_id, pending_sealed, pending_at)
values (%(person)s, %(key_id)s, %(sealed)s, jobs.now())
on conflict (person) do update
    set
        pending_key_id = excluded.pending_key_id,
        pending_sealed = excluded.pending_sealed,
        pending_at = excluded.pending_at
