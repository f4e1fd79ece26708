-- Whether a claim lapsed, or an idempotency key or a hint is past its time.
select
    exists (
        select 1
        from jobs.claims as c
        where c.ended_at is null and c.expires_at <= (select jobs.now())
    )
    or exists (
        select 1
        from jobs.idempotency_keys as k
        where k.expires_at <= (select jobs.now())
    )
    or exists (
        select 1
        from jobs.hints as h
        where h.at <= (select jobs.now()) - make_interval(secs => %(keep)s)
    ) as overdue
