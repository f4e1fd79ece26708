-- Moves the expiry of a live claim, on the item and in its history.
with renewed as (
    update jobs.items
    set
        expires_at = %(until)s,
        row_version = row_version + 1
    where
        id = %(item)s::uuid
        and tenant = %(tenant)s
        and holder = %(holder)s
        and fence = %(fence)s
    returning id, holder, expires_at, fence, row_version
),

kept as (
    update jobs.claims as c
    set
        expires_at = r.expires_at,
        renewals = c.renewals + 1
    from renewed as r
    where c.item = r.id and c.fence = r.fence and c.holder = r.holder and c.ended_at is null
)

select
    r.fence,
    r.row_version
from renewed as r
