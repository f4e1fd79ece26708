-- Whether the embedded server has its database.
select datname from pg_database
where datname = 'jobs'
