-- Removes one batch of idempotency keys past their time, under the duty's lease.
delete from jobs.idempotency_keys
where
    (tenant, person, method, path, key) in (
        select
            k.tenant,
            k.person,
            k.method,
            k.path,
            k.key
        from jobs.idempotency_keys as k
        where k.expires_at <= (select jobs.now())
        order by k.expires_at
        limit %(batch)s
    )
    and exists (
        select 1 from jobs.duties as d
        where d.name = %(name)s and d.holder = %(holder)s and d.fence = %(fence)s
    )
