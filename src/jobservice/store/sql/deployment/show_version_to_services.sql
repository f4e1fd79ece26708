-- The services compare the version that they need with this one when they start.
grant select on jobs.schema_version to jobs_api, jobs_worker, jobs_purge;
