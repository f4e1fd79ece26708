-- Takes a key for the length of the transaction, or says that another transaction has it.
select
    pg_try_advisory_xact_lock(
        hashtextextended(
            jsonb_build_array(
                %(tenant)s::text, %(person)s::text, %(method)s::text, %(path)s::text, %(key)s::text
            )::text,
            32
        )
    ) as locked
