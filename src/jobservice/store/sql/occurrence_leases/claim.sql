-- Claims for this Worker, of each tenant as many as its share, those that wait longest: counts the attempt, raises the
-- fence. Of one lock only the oldest that waits, and only where none runs: the unique index on what runs is the lock,
-- and two Workers that pass this at once meet there (23505: the caller tries again). Twice its share is looked at, as
-- another Worker may just be claiming the first of them. Nothing of a tenant that is stopped, nor of a schedule that is
-- switched off, a replay and a retry neither: both are read once a tenant, as jobs.stopped and jobs.switched_off say
-- it (a call of a function costs more than what it reads).
-- A row is found by its id: no partial index on the state is to tempt the planner, whatever the statistics say of rows
-- that come and go by the thousand (so `state || ''`, and the lock as a range, see look.sql).
with clock as materialized (
    select jobs.now() as now
),

asked as materialized (
    select
        g.tenant,
        g.share,
        g.since,
        array(
            select s.schedule
            from jobs.schedules as s
            where
                s.tenant = g.tenant
                and s.disabled_at is not null
                and (s.disabled_until is null or s.disabled_until > c.now)
        ) as off
    from unnest(%(tenants)s::text[], %(shares)s::integer[], %(heads)s::timestamptz[]) as g (tenant, share, since)
    cross join clock as c
    where
        not exists (
            select 1
            from jobs.stops as p
            where p.tenant = g.tenant and p.scope = 'tenant'
        )
),

oldest as materialized (
    select
        f.tenant,
        f.share,
        w.*
    from asked as f
    cross join clock as c
    cross join lateral (
        select
            o.id,
            o.lock,
            o.due_at,
            o.fence
        from jobs.occurrences as o
        where
            o.tenant = f.tenant
            and o.state = 'scheduled'
            and o.due_at >= f.since
            and o.due_at <= c.now
            and (o.miss_at is null or o.miss_at > c.now)
            and o.cancel_asked_at is null
            and o.schedule <> all(f.off)
            and (
                o.schedule = any(%(everywhere)s::text[])
                or o.tenant || ' ' || o.schedule = any(%(somewhere)s::text[])
            )
            and (
                select r.lock
                from jobs.occurrences as r
                where r.tenant = o.tenant and r.lock >= o.lock and r.lock <= o.lock and r.holder is not null
                order by r.tenant, r.lock
                limit 1
            ) is null
        order by o.due_at, o.id
        limit 2 * f.share + 1
    ) as w
),

first_of_lock as materialized (
    select distinct on (e.tenant, e.lock)
        e.tenant,
        e.share,
        e.id,
        e.due_at,
        e.fence
    from oldest as e
    order by e.tenant, e.lock, e.due_at, e.id
),

shared as (
    select
        e.tenant,
        max(e.share) as share,
        array_agg(e.id order by e.due_at, e.id) as ids,
        array_agg(e.fence order by e.due_at, e.id) as fences
    from first_of_lock as e
    group by e.tenant
),

wanted as materialized (
    select w.id
    from shared as s
    cross join lateral (
        select o.id
        from unnest(s.ids, s.fences) with ordinality as g (id, fence, place)
        inner join jobs.occurrences as o on g.id = o.id
        where o.fence = g.fence and o.state || '' = 'scheduled' and o.cancel_asked_at is null
        order by g.place
        limit s.share
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
from clock as c
where o.id = any(array(select w.id from wanted as w)) and o.holder is null
returning
    o.id, o.tenant, o.schedule, o.scheduled_at, o.attempts, o.taken_at, o.fence, o.fence_base, o.position,
    o.selected_all, o.done, o.refused, o.failed
