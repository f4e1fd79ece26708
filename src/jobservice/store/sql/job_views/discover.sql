-- Schemas in which this login may read all three views with the columns that they must have.
select n.nspname as views_schema
from pg_namespace as n
inner join pg_class as c on n.oid = c.relnamespace
inner join pg_attribute as a on c.oid = a.attrelid
inner join
    unnest(%(views)s::text[], %(columns)s::text[]) as w (view_name, column_name)
    on c.relname = w.view_name and a.attname = w.column_name
where
    c.relkind in ('v', 'm', 'r', 'f')
    and a.attnum > 0
    and not a.attisdropped
    and n.nspname <> all(%(never)s::text[])
    and has_schema_privilege(n.oid, 'usage')
    and has_table_privilege(c.oid, 'select')
group by n.nspname
having count(*) = cardinality(%(views)s::text[])
order by n.nspname
