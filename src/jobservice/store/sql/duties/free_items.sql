-- Frees items whose claim lapsed, each under the holder and fence that lapsed.
update jobs.items as i
set holder = null, taken_at = null, expires_at = null, row_version = i.row_version + 1
from unnest(%(items)s::uuid[], %(holders)s::text[], %(fences)s::bigint[]) as lapsed (item, holder, fence)
where
    i.tenant = %(tenant)s
    and i.id = lapsed.item
    and i.holder = lapsed.holder
    and i.fence = lapsed.fence
returning i.id, i.queue, i.row_version
