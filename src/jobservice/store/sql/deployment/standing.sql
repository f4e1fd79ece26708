-- Who this process is to the server, and what stands in the schema: read from the catalogues, which everybody may.
select
    current_user::text as role,
    current_setting('server_version_num')::integer as server_version,
    r.rolsuper as superuser,
    r.rolbypassrls as bypasses,
    exists(
        select 1
        from pg_class as c
        where c.relnamespace = to_regnamespace('jobs') and pg_has_role(current_user, c.relowner, 'member')
    ) as owner,
    coalesce(
        (
            select pg_has_role(current_user, s.oid, 'usage') from pg_roles as s
            where s.rolname = %(service_role)s
        ), false
    ) as service,
    exists(
        select 1 from pg_class as c
        where c.relnamespace = to_regnamespace('jobs') and c.relname = 'schema_version'
    ) as migrated,
    (
        select string_agg(f.prosrc, ' / ')
        from pg_proc as f
        where f.pronamespace = to_regnamespace('jobs') and f.proname = 'now'
    ) as clock
from pg_roles as r
where r.rolname = current_user
