-- The role that reads published views of jobs: it has them, and nothing else (requirement families).
create role jobs_views login nosuperuser nocreatedb nocreaterole nobypassrls;
