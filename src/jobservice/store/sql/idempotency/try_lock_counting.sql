-- Takes a key and the count of its person's claims for the length of the transaction; waits for whoever counts them
-- now. Where another transaction has the key it says so, and takes neither. First comes the lock that whoever stops the
-- tenant's work waits for (migration 0005).
with gate as materialized (
    select pg_advisory_xact_lock_shared(1836021370, hashtext(%(tenant)s))::text as passed
)

select
    case
        when
            pg_try_advisory_xact_lock(
                hashtextextended(
                    jsonb_build_array(
                        %(tenant)s::text, %(person)s::text, %(method)s::text, %(path)s::text, %(key)s::text
                    )::text,
                    32
                )
            )
            then pg_advisory_xact_lock(
                hashtextextended(jsonb_build_array(%(tenant)s::text, %(person)s::text)::text, 6)
            ) is not null
        else false
    end as locked
from gate
