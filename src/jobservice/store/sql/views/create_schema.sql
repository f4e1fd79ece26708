-- The schema of the views. (Formatted by the server: the name is a person's.)
select format('create schema if not exists %%I', %(views_schema)s::text) as command
