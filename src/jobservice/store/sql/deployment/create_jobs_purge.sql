-- The role of `jobservice purge`: removes what is past its retention, and nothing else (MONEY.md 31).
create role jobs_purge login nosuperuser nocreatedb nocreaterole nobypassrls;
