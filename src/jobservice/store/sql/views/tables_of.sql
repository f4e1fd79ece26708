-- Which of these tables a schema has.
select c.relname
from pg_class as c
inner join pg_namespace as n on c.relnamespace = n.oid
where n.nspname = %(engine_schema)s and c.relkind in ('r', 'p') and c.relname = any(%(tables)s::text[])
