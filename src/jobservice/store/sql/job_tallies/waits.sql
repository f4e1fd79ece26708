-- Whether a change waits to be folded into the tallies.
select exists(select 1 from jobs.job_tally_changes) as waits
