-- Which of the services' roles exist on this server.
select rolname from pg_roles
where rolname in ('jobs_api', 'jobs_worker', 'jobs_purge', 'jobs_views');
