-- Whether a batch would find something to seal, and the place of the newest head: 0 before the first.
select
    jobs.audit_waits() as waits,
    coalesce(
        (
            select s.place
            from jobs.audit_seals as s
            order by s.number desc
            limit 1
        ),
        0
    ) as place
