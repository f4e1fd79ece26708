-- Gives back the items that an unconfirmed plan took for its owner; those that a colleague has by now stay theirs.
with taken as materialized (
    select
        i.id,
        i.fence
    from jobs.items as i
    where i.tenant = %(tenant)s and i.plan = %(plan)s::uuid and i.holder = %(owner)s and not i.held
    order by i.id
    for update
)

update jobs.items as i
set
    holder = null,
    taken_at = null,
    expires_at = null,
    plan = null,
    plan_name = null,
    row_version = i.row_version + 1
from taken
where i.id = taken.id and i.holder = %(owner)s and i.fence = taken.fence
