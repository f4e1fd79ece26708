-- Which schema's views the statements of this transaction read.
select set_config('search_path', format('%%I, pg_catalog', %(views_schema)s::text), true)
