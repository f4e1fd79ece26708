-- The families of jobs that have tables here, and this instant.
select
    jobs.now() as now,
    array(
        select substring(c.relname from '^(.*)_jobs$')
        from pg_inherits as i
        inner join pg_class as c on i.inhrelid = c.oid
        where i.inhparent = 'jobs.jobs'::regclass
        order by c.relname
    ) as families
