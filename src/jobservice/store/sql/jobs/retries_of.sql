-- The job of a lineage that is not settled, and how many it has.
select
    (
        select r.id::text
        from jobs.jobs as r
        where
            r.lineage = %(lineage)s::uuid
            and r.family = %(family)s
            and r.tenant = %(tenant)s
            and r.settled_at is null
        order by r.id desc
        limit 1
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
