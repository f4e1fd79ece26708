-- Frees items whose claim lapsed, each under the holder and fence that lapsed, with its audit row.
with freed as (
    update jobs.items as i
    set holder = null, taken_at = null, expires_at = null, row_version = i.row_version + 1
    from unnest(%(items)s::uuid[], %(holders)s::text[], %(fences)s::bigint[]) as lapsed (item, holder, fence)
    where
        i.tenant = %(tenant)s
        and i.id = lapsed.item
        and i.holder = lapsed.holder
        and i.fence = lapsed.fence
    returning i.id, i.tenant, i.queue, i.row_version, lapsed.holder, lapsed.fence
),

audited as (
    insert into jobs.audit (tenant, action, subject, outcome, detail)
    select
        f.tenant,
        'claim-lapsed' as action,
        f.id::text as subject,
        'done' as outcome,
        jsonb_build_object('queue', f.queue, 'holder', f.holder, 'fence', f.fence) as detail
    from freed as f
)

select
    f.id,
    f.queue,
    f.row_version
from freed as f
