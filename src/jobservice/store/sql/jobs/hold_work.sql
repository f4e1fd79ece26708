-- Whoever stops work, or money, waits until this transaction ended: before the stops are read, and before any row.
select
    pg_advisory_xact_lock_shared(1836021370, hashtext(%(tenant)s)) as work,
    pg_advisory_xact_lock_shared(1836021369, hashtext(%(tenant)s)) as turns
