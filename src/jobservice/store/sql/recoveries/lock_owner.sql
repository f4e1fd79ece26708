-- Serialises whatever counts one person's open recoveries in one tenant, until the transaction ends.
select
    pg_advisory_xact_lock(
        hashtextextended(jsonb_build_array(%(tenant)s::text, %(owner)s::text)::text, 11)
    )
