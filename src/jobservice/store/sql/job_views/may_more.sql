-- What this login may do besides reading views: the first few, in words. None: it is read-only by construction.
select n.nspname || '.' || c.relname as name
from pg_class as c
inner join pg_namespace as n on c.relnamespace = n.oid
where
    c.relkind in ('r', 'p', 'v', 'm', 'f')
    and n.nspname not in ('pg_catalog', 'information_schema')
    and n.nspname not like 'pg\_toast%%'
    and has_schema_privilege(n.oid, 'usage')
    and (
        has_table_privilege(c.oid, 'insert, update, delete, truncate')
        or (
            c.relname not in ('cross_job_query', 'cross_job_steps', 'cross_job_events')
            and has_table_privilege(c.oid, 'select')
        )
    )
order by 1
limit 3
