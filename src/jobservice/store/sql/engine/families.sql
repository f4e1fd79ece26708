-- The families of kinds that have tables here, and whether the engine's are here too. (Read from the catalogue: the API
-- may not even look into the engine's schema.)
select
    (
        select array_agg(substring(c.relname from '^(.*)_jobs$') order by c.relname)
        from pg_inherits as i
        inner join pg_class as c on i.inhrelid = c.oid
        where i.inhparent = to_regclass('jobs.jobs')
    ) as families,
    (
        select count(*) = 2
        from pg_class as c
        inner join pg_namespace as n on c.relnamespace = n.oid
        where n.nspname = 'jobs_engine' and c.relname in ('workflow_status', 'datasource_outputs')
    ) as engine
