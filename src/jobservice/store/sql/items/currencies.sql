-- The currencies of a queue's unfinished items within reach, one probe of items_amounts for each.
with recursive found as (
    (
        select i.currency
        from jobs.items as i
        where
            i.tenant = %(tenant)s
            and i.queue = %(queue)s
            and i.closed_at is null
            and i.currency is not null
            and jobs.in_reach(i, %(customers)s::text[], %(workspaces)s::text[])
        order by i.currency
        limit 1
    )

    union all

    select (
        select i.currency
        from jobs.items as i
        where
            i.tenant = %(tenant)s
            and i.queue = %(queue)s
            and i.closed_at is null
            and i.currency > f.currency
            and jobs.in_reach(i, %(customers)s::text[], %(workspaces)s::text[])
        order by i.currency
        limit 1
    )
    from found as f
    where f.currency is not null
)

select f.currency
from found as f
where f.currency is not null
order by f.currency
