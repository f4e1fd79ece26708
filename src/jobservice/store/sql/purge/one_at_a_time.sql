-- Whether this session may purge: no other one does. Held until the session ends.
select pg_try_advisory_lock(1886741093) as taken
