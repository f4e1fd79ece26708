-- One page of a view in the order of its sort, as the JSON that goes over the wire; one row more tells whether there is
-- a page after it. What the parameters decide folds away, so each page walks one partial index.
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
        > (%(after_rank)s::bigint, %(after_created)s::timestamptz, %(after_id)s::uuid)
    order by case when %(currency)s::text is null then i.rank else i.amount_rank end, i.created, i.id
    limit %(most)s + 1
),

numbered as (
    select
        i.id,
        i.created,
        case when %(currency)s::text is null then i.rank else i.amount_rank end as rank,
        jobs.item_json(i, p.name, %(now)s, %(exponents)s::jsonb) as item,
        row_number() over (
            order by case when %(currency)s::text is null then i.rank else i.amount_rank end, i.created, i.id
        ) as place
    from page as i
    left join jobs.people as p on i.holder = p.id
)

select
    coalesce(json_agg(n.item order by n.place) filter (where n.place <= %(most)s), '[]'::json)::text as items,
    coalesce(max(n.place) > %(most)s, false) as more,
    (array_agg(n.rank) filter (where n.place = 1))[1] as first_rank,
    (array_agg(n.created) filter (where n.place = 1))[1] as first_created,
    (array_agg(n.id) filter (where n.place = 1))[1]::text as first_id,
    (array_agg(n.rank) filter (where n.place = %(most)s))[1] as last_rank,
    (array_agg(n.created) filter (where n.place = %(most)s))[1] as last_created,
    (array_agg(n.id) filter (where n.place = %(most)s))[1]::text as last_id
from numbered as n
