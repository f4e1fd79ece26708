-- Let the reader's role look into the schema of the views.
select format('grant usage on schema %%I to jobs_views', %(views_schema)s::text) as command
