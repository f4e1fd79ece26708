-- Writes into the history how the claims ended, and when: at their expiry, whenever it was noticed.
update jobs.claims as c
set ended_at = c.expires_at, ending = 'lapsed'
from unnest(%(items)s::uuid[], %(holders)s::text[], %(fences)s::bigint[]) as lapsed (item, holder, fence)
where
    c.tenant = %(tenant)s
    and c.item = lapsed.item
    and c.holder = lapsed.holder
    and c.fence = lapsed.fence
    and c.ended_at is null
