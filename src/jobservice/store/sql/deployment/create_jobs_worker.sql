-- The Worker's role: may log in, owns nothing, bypasses nothing (MONEY.md 29).
create role jobs_worker login nosuperuser nocreatedb nocreaterole nobypassrls;
