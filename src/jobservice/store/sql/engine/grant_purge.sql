-- What jobservice purge removes of the engine: the run of a job that goes, with all that it kept.
do $$
declare
    name text;
begin
    grant usage on schema jobs_engine to jobs_purge;
    foreach name in array array['workflow_input', 'workflow_output', 'operation_outputs'] loop
        execute format('grant select (workflow_uuid), delete on jobs_engine.%I to jobs_purge', name);
    end loop;
    grant select (workflow_uuid, status), delete on jobs_engine.workflow_status to jobs_purge;
    grant select (workflow_id), delete on jobs_engine.datasource_outputs to jobs_purge;
end
$$
