-- How many jobs the views show now.
select count(*) from cross_job_query
