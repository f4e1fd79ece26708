-- The Worker runs workflows: it reads and writes the rows that this needs, removes what is over, and changes no table.
-- What we do not use of the library (messages, events, streams, schedules, steps of its own) nobody writes. The API has
-- nothing here: it hands jobs over by jobs.hand_over.
do $$
declare
    name text;
    rights text;
begin
    grant usage on schema jobs_engine to jobs_worker;
    for name in
        select c.relname from pg_class as c
        where c.relnamespace = 'jobs_engine'::regnamespace and c.relkind in ('r', 'p')
    loop
        rights := case
            when name in ('workflow_status', 'workflow_input', 'workflow_output') then 'select, insert, update, delete'
            when name in ('application_versions', 'queues') then 'select, insert, update'
            when name in ('operation_outputs', 'notifications', 'workflow_events', 'workflow_events_history', 'streams')
                then 'select, delete'
            else 'select'
        end;
        execute format('revoke all on jobs_engine.%I from jobs_worker', name);
        execute format('grant %s on jobs_engine.%I to jobs_worker', rights, name);
    end loop;
    revoke all on all sequences in schema jobs_engine from jobs_worker;
end
$$
