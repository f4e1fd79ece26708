-- Takes a key for the length of the transaction, waiting for another transaction that has it.
select
    pg_advisory_xact_lock(
        hashtextextended(
            jsonb_build_array(
                %(tenant)s::text, %(person)s::text, %(method)s::text, %(path)s::text, %(key)s::text
            )::text,
            32
        )
    ) is not null as locked
