-- What the reader's role needs, and nothing else: the schema and its three views.
select
    format(
        'grant usage on schema %%1$I to jobs_views; grant select on %%1$I.cross_job_query, %%1$I.cross_job_steps, '
        '%%1$I.cross_job_events to jobs_views',
        %(views_schema)s::text
    ) as command
