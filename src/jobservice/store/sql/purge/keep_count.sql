-- Keeps what is gone, in the transaction that removed it, until the trail says so.
insert into jobs.purged as p (tenant, what, count)
select
    g.tenant,
    %(what)s,
    g.count
from unnest(%(tenants)s::text[], %(counts)s::bigint[]) as g (tenant, count)
on conflict (tenant, what) do update set count = p.count + excluded.count
