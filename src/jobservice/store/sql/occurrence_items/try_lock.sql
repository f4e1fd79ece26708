-- Takes the scope of an item for the length of the transaction, or says that another transaction has it.
select pg_try_advisory_xact_lock(hashtextextended(%(scope)s, 41)) as locked
