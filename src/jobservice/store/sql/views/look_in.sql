-- New things go into the first schema; what they are made from is looked up in both.
select set_config('search_path', format('%%I, %%I, pg_catalog', %(views_schema)s::text, %(engine_schema)s::text), true)
