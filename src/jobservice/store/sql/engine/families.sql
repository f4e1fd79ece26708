-- The families of kinds that have tables here, and whether the engine's are here too.
select
    (
        select array_agg(substring(c.relname from '^(.*)_jobs$') order by c.relname)
        from pg_inherits as i
        inner join pg_class as c on i.inhrelid = c.oid
        where i.inhparent = to_regclass('jobs.jobs')
    ) as families,
    to_regclass('jobs_engine.workflow_status') is not null
    and to_regclass('jobs_engine.datasource_outputs') is not null as engine
