-- Hints of one tenant written by transactions from a position on, and the position to go on from: all one snapshot.
with unread as (
    select
        h.id,
        h.xid,
        h.tenant,
        h.topic,
        h.queue,
        h.ref,
        h.version
    from jobs.hints as h
    where
        h.tenant = %(tenant)s
        and h.xid >= %(position)s::bigint
        and not (h.id = any(%(seen)s::bigint[]))
    order by h.xid, h.id
    limit %(most)s
)

select
    pg_snapshot_xmin(pg_current_snapshot())::text::bigint as position,
    f.xid as floor,
    coalesce(
        (
            select json_agg(h.id)
            from jobs.hints as h
            where
                h.id = any(%(seen)s::bigint[])
                and h.tenant = %(tenant)s
                and h.xid >= pg_snapshot_xmin(pg_current_snapshot())::text::bigint
        ),
        '[]'::json
    ) as seen_ahead,
    coalesce((select json_agg(u.* order by u.xid, u.id) from unread as u), '[]'::json) as hints
from jobs.hints_floor as f
