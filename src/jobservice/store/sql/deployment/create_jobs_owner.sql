-- The owner of an embedded database: migrates it and keeps its people; no superuser.
create role jobs_owner login nosuperuser nocreatedb nocreaterole nobypassrls;
