-- Extends all leases of this process that are still its own, and says of which a person asked that they be cancelled.
-- Writes when their attempts began, as far as that is not written. Locks first and compares after.
with held as materialized (
    select
        h.id,
        h.fence,
        h.began_after
    from unnest(%(ids)s::uuid[], %(fences)s::bigint[], %(began_after)s::float8[]) as h (id, fence, began_after)
),

locked as materialized (
    select o.id
    from jobs.occurrences as o
    where o.id = any(%(ids)s::uuid[])
    order by o.id
    for update of o
),

moment as materialized (
    select
        count(*) as locked,
        jobs.now() as now
    from locked
)

update jobs.occurrences as o
set
    expires_at = m.now + make_interval(secs => %(lease)s),
    renewals = o.renewals + 1,
    attempt_started_at = coalesce(
        o.attempt_started_at, least(o.taken_at + make_interval(secs => h.began_after), m.now)
    ),
    started_at = coalesce(o.started_at, least(o.taken_at + make_interval(secs => h.began_after), m.now))
from held as h
cross join moment as m
where
    o.id = h.id
    and o.id = any(%(ids)s::uuid[])
    and o.holder = %(holder)s
    and o.fence = h.fence
    and o.expires_at > m.now
returning
    o.id, o.tenant, o.schedule, o.cancel_asked_at is not null as cancelled,
    case when o.renewals = 1 then o.attempt_started_at end as began_at
