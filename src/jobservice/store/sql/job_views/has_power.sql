-- Whether this login is more than a reader by what it is.
select r.rolname as name
from pg_roles as r
where r.rolname = current_user and (r.rolsuper or r.rolbypassrls or r.rolcreaterole or r.rolcreatedb)
