-- Removes the attempts at notices of jobs.
delete from jobs.job_notice_attempts as a
where
    a.notice in (
        select n.id
        from jobs.job_notices as n
        where n.job = any(%(jobs)s::uuid[])
    )
