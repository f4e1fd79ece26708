-- The clock and every tenant.
select
    jobs.now() as now,
    coalesce((select array_agg(t.id order by t.id) from jobs.tenants as t), '{}') as tenants
