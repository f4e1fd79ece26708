-- Removes causes that no job has any more.
delete from jobs.job_causes as c
where
    c.id = any(%(causes)s::uuid[])
    and not exists (
        select 1
        from jobs.jobs as j
        where j.tenant = c.tenant and j.cause = c.id
    )
