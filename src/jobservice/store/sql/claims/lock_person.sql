-- Serialises whatever counts one person's claims in one tenant, until the transaction ends.
select
    pg_advisory_xact_lock(
        hashtextextended(jsonb_build_array(%(tenant)s::text, %(person)s::text)::text, 6)
    )
