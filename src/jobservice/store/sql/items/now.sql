-- The one clock; read after the row is locked, so that what waited is judged by when it got its turn (MONEY.md 30).
select jobs.now() as now
