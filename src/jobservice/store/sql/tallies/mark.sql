-- The database's clock, and up to when all that ended is in the tallies; null: nothing was tallied yet.
select
    jobs.now() as now,
    (
        select to_timestamp(f.value)
        from jobs.figures as f
        where f.name = 'tallied-until'
    ) as until
