-- What of the database a statement sees now.
select pg_current_snapshot()::text as snapshot
