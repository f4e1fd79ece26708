-- Which of our roles an embedded server has.
select rolname from pg_roles
where starts_with(rolname, 'jobs_')
