-- Which of the roles of an embedded server exist.
select rolname from pg_roles
where rolname in ('jobs_owner', 'jobs_api', 'jobs_worker')
