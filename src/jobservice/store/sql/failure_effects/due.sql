-- Whether a failure effect is due.
select exists(
    select 1
    from jobs.jobs as j
    where j.failure_effect_state = 'due' and j.failure_effect_at <= (select jobs.now())
) as due
