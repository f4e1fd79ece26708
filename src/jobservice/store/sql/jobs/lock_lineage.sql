-- Whoever else would retry a job of that lineage waits until this transaction ended.
select pg_advisory_xact_lock(hashtextextended(%(lineage)s, 58)) as locked
