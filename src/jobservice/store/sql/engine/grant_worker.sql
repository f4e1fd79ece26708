-- The Worker runs workflows: it reads and writes rows of the engine's tables, and changes no table. The API gets
-- nothing here: it hands jobs over by jobs.hand_over.
do $$
declare
    name text;
begin
    grant usage on schema jobs_engine to jobs_worker;
    for name in
        select c.relname from pg_class as c
        where c.relnamespace = 'jobs_engine'::regnamespace and c.relkind in ('r', 'p')
    loop
        if name in ('dbos_migrations', 'dbos_datasource_migrations') then
            execute format('grant select on jobs_engine.%I to jobs_worker', name);
        else
            execute format('grant select, insert, update, delete on jobs_engine.%I to jobs_worker', name);
        end if;
    end loop;
    grant usage on all sequences in schema jobs_engine to jobs_worker;
end
$$
