-- Claims for this Worker, of each tenant as many as its share, those that wait longest: counts the attempt, raises the
-- fence. Of one lock only the oldest that waits, and only where none runs: the unique index on what runs is the lock,
-- and two Workers that pass this at once meet there (23505: the caller tries again).
with clock as materialized (
    select jobs.now() as now
),

wanted as materialized (
    select w.id
    from unnest(%(tenants)s::text[], %(shares)s::integer[], %(heads)s::timestamptz[]) as f (tenant, share, since)
    cross join clock as c
    cross join lateral (
        select o.id
        from jobs.occurrences as o
        where
            o.tenant = f.tenant
            and o.state = 'scheduled'
            and o.due_at >= f.since
            and o.due_at <= c.now
            and (o.miss_at is null or o.miss_at > c.now)
            and o.cancel_asked_at is null
            and (
                o.schedule = any(%(everywhere)s::text[])
                or o.tenant || ' ' || o.schedule = any(%(somewhere)s::text[])
            )
            and not exists (
                select 1
                from jobs.occurrences as r
                where r.tenant = o.tenant and r.lock = o.lock and r.state = 'processing'
            )
            and not exists (
                select 1
                from jobs.occurrences as e
                where
                    e.tenant = o.tenant
                    and e.lock = o.lock
                    and e.state = 'scheduled'
                    and e.due_at >= f.since
                    and (e.due_at, e.id) < (o.due_at, o.id)
                    and (e.miss_at is null or e.miss_at > c.now)
                    and e.cancel_asked_at is null
                    and (
                        e.schedule = any(%(everywhere)s::text[])
                        or e.tenant || ' ' || e.schedule = any(%(somewhere)s::text[])
                    )
            )
        order by o.due_at, o.id
        limit f.share
        for update of o skip locked
    ) as w
)

update jobs.occurrences as o
set
    state = 'processing',
    holder = %(holder)s,
    taken_at = c.now,
    expires_at = c.now + make_interval(secs => %(lease)s),
    renewals = 0,
    fence = o.fence + 1,
    attempts = o.attempts + 1,
    attempt_started_at = null,
    miss_at = null,
    version = o.version + 1
from wanted as w
cross join clock as c
where o.id = w.id and o.state = 'scheduled' and o.cancel_asked_at is null
returning
    o.id, o.tenant, o.schedule, o.scheduled_at, o.attempts, o.fence, o.position, o.selected_all, o.done, o.refused,
    o.failed
