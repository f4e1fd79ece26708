-- One page of a view before a place, read backwards and given in the order of its sort; otherwise as page.sql.
with page as (
    select i.*
    from jobs.items as i
    where
        i.tenant = %(tenant)s
        and i.queue = %(queue)s
        and jobs.in_view(i, %(view)s, %(now)s)
        and jobs.in_reach(i, %(customers)s::text[], %(workspaces)s::text[])
        and jobs.matches(i, %(filter)s::jsonb, %(now)s)
        and (%(currency)s::text is null or i.currency = %(currency)s::text)
        and (case when %(currency)s::text is null then i.rank else i.amount_rank end, i.created, i.id)
        <= (%(rank)s::bigint, %(created)s::timestamptz, %(id)s::uuid)
    order by
        case when %(currency)s::text is null then i.rank else i.amount_rank end desc,
        i.created desc,
        i.id desc
    limit %(most)s + 2
),

shown as (
    select
        i.id,
        i.created,
        case when %(currency)s::text is null then i.rank else i.amount_rank end as rank,
        jobs.item_json(i, p.name, %(now)s, %(exponents)s::jsonb) as item
    from page as i
    left join jobs.people as p on i.holder = p.id
),

marked as (
    select
        s.*,
        (s.rank, s.created, s.id) = (%(rank)s::bigint, %(created)s::timestamptz, %(id)s::uuid) as mark
    from shown as s
),

numbered as (
    select
        m.*,
        count(*) filter (where not m.mark) over (
            order by m.rank desc, m.created desc, m.id desc
            rows unbounded preceding
        ) as place
    from marked as m
)

select
    coalesce(
        json_agg(n.item order by n.place desc) filter (where n.place between 1 and %(most)s), '[]'::json
    )::text as items,
    coalesce(max(n.place) > %(most)s, false) as more,
    coalesce(bool_or(n.mark), false) as mark,
    (array_agg(n.rank) filter (where n.place = 1))[1] as near_rank,
    (array_agg(n.created) filter (where n.place = 1))[1] as near_created,
    (array_agg(n.id) filter (where n.place = 1))[1]::text as near_id,
    (array_agg(n.rank) filter (where n.place = %(most)s))[1] as far_rank,
    (array_agg(n.created) filter (where n.place = %(most)s))[1] as far_created,
    (array_agg(n.id) filter (where n.place = %(most)s))[1]::text as far_id,
    pg_current_snapshot()::text as snapshot
from numbered as n
