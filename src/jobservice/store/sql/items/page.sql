-- Rows of a view at and after a place in the order of its sort, each as the JSON that goes over the wire. What the
-- parameters decide folds away, so each page walks one partial index. The row at the place itself is only looked at:
-- where it still stands, there are rows on that side too. One row more tells of rows on the other side. Rows, and not
-- one aggregate of them: planning for its values each time, PostgreSQL takes twice as long over the aggregate.
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
    >= (%(rank)s::bigint, %(created)s::timestamptz, %(id)s::uuid)
order by
    case when %(currency)s::text is null then i.rank else i.amount_rank end,
    i.created,
    i.id
limit %(most)s + 2
