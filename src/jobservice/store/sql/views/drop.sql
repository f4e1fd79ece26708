-- The three views, so that ones with other columns can be made.
drop view if exists cross_job_query, cross_job_steps, cross_job_events
