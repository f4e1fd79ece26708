-- Every tenant, and the clock: where the duty of rescoring looks, one transaction a tenant.
select
    coalesce(array_agg(t.id order by t.id), '{}') as tenants,
    jobs.now() as now
from jobs.tenants as t
