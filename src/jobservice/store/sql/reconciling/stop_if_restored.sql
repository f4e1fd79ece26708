-- Stops the money of all tenants where this is another database than the one in which it moved last (MONEY.md 22).
select jobs.stop_if_restored() as restored
