-- What the reader's role needs beside the schema, and nothing else: its three views.
select
    format(
        'grant select on %%1$I.cross_job_query, %%1$I.cross_job_steps, %%1$I.cross_job_events to jobs_views',
        %(views_schema)s::text
    ) as command
