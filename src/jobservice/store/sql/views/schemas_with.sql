-- The schemas that have such a table, for whoever looks for an engine.
select n.nspname
from pg_class as c
inner join pg_namespace as n on c.relnamespace = n.oid
where c.relkind in ('r', 'p') and c.relname = %(table)s and n.nspname <> 'jobs_engine'
order by 1
