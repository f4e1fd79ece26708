-- Writes a claim on a locked item, over the claim (or none) that was read, and its row of history; nothing where
-- the queue is stopped.
with granted as (
    update jobs.items
    set
        holder = %(person)s,
        taken_at = %(now)s,
        expires_at = %(until)s,
        fence = fence + 1,
        row_version = row_version + 1
    where
        id = %(item)s::uuid
        and tenant = %(tenant)s
        and holder is not distinct from %(holder)s
        and fence = %(fence)s
        and closed_at is null
        and not jobs.stopped(tenant, 'queue', queue)
    returning id, tenant, queue, holder, taken_at, expires_at, fence, row_version
),

kept as (
    insert into jobs.claims (item, fence, tenant, queue, holder, taken_at, expires_at)
    select
        g.id,
        g.fence,
        g.tenant,
        g.queue,
        g.holder,
        g.taken_at,
        g.expires_at
    from granted as g
)

select
    g.fence,
    g.row_version
from granted as g
