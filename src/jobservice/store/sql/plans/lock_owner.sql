-- Serialises whatever counts one person's open plans in one tenant, until the transaction ends. Not the lock on their
-- claims: that one is waited for by whoever has locked an item, and making a plan locks items after this.
select
    pg_advisory_xact_lock(
        hashtextextended(jsonb_build_array(%(tenant)s::text, %(owner)s::text)::text, 8)
    )
