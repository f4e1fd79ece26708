-- Rows of a view at and before a place, read backwards in the order of its sort; otherwise as page.sql.
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
    case when %(currency)s::text is null then i.rank else i.amount_rank end::text as rank,
    i.created::text as created,
    i.id::text as id,
    (
        (case when %(currency)s::text is null then i.rank else i.amount_rank end, i.created, i.id)
        = (%(rank)s::bigint, %(created)s::timestamptz, %(id)s::uuid)
    )::text as mark,
    pg_current_snapshot()::text as snapshot
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
