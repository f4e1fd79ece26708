-- The retry of a job that is not settled, and how many jobs its lineage has.
select
    (
        select r.id::text
        from jobs.jobs as r
        where
            r.family = %(family)s
            and r.tenant = %(tenant)s
            and r.retry_of = %(job)s::uuid
            and r.settled_at is null
    ) as unsettled,
    (
        select count(*)
        from jobs.jobs as l
        where l.lineage = %(lineage)s::uuid and l.family = %(family)s and l.tenant = %(tenant)s
    ) as jobs,
    (
        select f.submission_identity
        from jobs.jobs as f
        where f.family = %(family)s and f.tenant = %(tenant)s and f.id = %(lineage)s::uuid
    ) as identity
