-- Holds something still, where it is not held already. The statement waits for what runs now (migration 0005): when it
-- is done, nothing further of it is written.
insert into jobs.stops (tenant, scope, name, by, reason)
values (%(tenant)s, %(scope)s, %(name)s, %(by)s, %(reason)s)
on conflict (tenant, scope, name) do nothing
