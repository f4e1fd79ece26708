-- Rows of a view that were placed anew since a snapshot, or whose set-aside ended since its clock, in the order in
-- which they were placed: what a walk over pages may have missed. Both parts walk an index of their own: what came back
-- is found by items_coming_back and sorted, so its order is written as no index has it. A row placed by a transaction
-- that is still to come was restored from another server's dump: it did not move here.
with moved as (
    (
        select i.*
        from jobs.items as i
        where
            i.tenant = %(tenant)s
            and i.queue = %(queue)s
            and jobs.in_view(i, %(view)s, %(now)s)
            and jobs.in_reach(i, %(customers)s::text[], %(workspaces)s::text[])
            and jobs.matches(i, %(filter)s::jsonb, %(now)s)
            and (%(currency)s::text is null or i.currency = %(currency)s::text)
            and i.placed_xid >= %(oldest)s::bigint
            and i.placed_xid < pg_snapshot_xmax(pg_current_snapshot())::text::bigint
            and (i.placed_xid, i.id) > (%(xid)s::bigint, %(id)s::uuid)
            and not pg_visible_in_snapshot(i.placed_xid::text::xid8, %(since)s::pg_snapshot)
        order by i.placed_xid, i.id
        limit %(most)s + 1
    )
    union all
    (
        select i.*
        from jobs.items as i
        where
            i.tenant = %(tenant)s
            and i.queue = %(queue)s
            and jobs.in_view(i, %(view)s, %(now)s)
            and jobs.in_reach(i, %(customers)s::text[], %(workspaces)s::text[])
            and jobs.matches(i, %(filter)s::jsonb, %(now)s)
            and (%(currency)s::text is null or i.currency = %(currency)s::text)
            and i.closed_at is null
            and i.set_aside_until > %(since_at)s::timestamptz
            and i.set_aside_until <= %(now)s
            and (i.placed_xid, i.id) > (%(xid)s::bigint, %(id)s::uuid)
            and (
                pg_visible_in_snapshot(i.placed_xid::text::xid8, %(since)s::pg_snapshot)
                or i.placed_xid >= pg_snapshot_xmax(pg_current_snapshot())::text::bigint
            )
        order by i.placed_xid + 0, i.id
        limit %(most)s + 1
    )
)

select
    jobs.item_text(
        i,
        (
            select p.name
            from jobs.people as p
            where p.id = i.holder
        ),
        %(now)s,
        %(exponents)s::jsonb
    ) as item,
    i.placed_xid::text as xid,
    i.id::text as id,
    pg_current_snapshot()::text as snapshot
from moved as i
order by i.placed_xid, i.id
limit %(most)s + 1
