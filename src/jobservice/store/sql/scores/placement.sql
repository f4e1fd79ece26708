-- What is before a place among the items that wait, counted to `most` and one more, and the place's neighbours as they
-- go over the wire. The item that the place is asked for is not among them.
with above as (
    select i.*
    from jobs.items as i
    where
        i.tenant = %(tenant)s
        and i.queue = %(queue)s
        and jobs.in_view(i, 'waiting', %(now)s)
        and jobs.in_reach(i, %(customers)s::text[], %(workspaces)s::text[])
        and (i.rank, i.created, i.id) < (%(rank)s::bigint, %(created)s::timestamptz, %(item)s::uuid)
        and i.id <> %(item)s::uuid
    order by i.rank desc, i.created desc, i.id desc
    limit 1
),

below as (
    select i.*
    from jobs.items as i
    where
        i.tenant = %(tenant)s
        and i.queue = %(queue)s
        and jobs.in_view(i, 'waiting', %(now)s)
        and jobs.in_reach(i, %(customers)s::text[], %(workspaces)s::text[])
        and (i.rank, i.created, i.id) > (%(rank)s::bigint, %(created)s::timestamptz, %(item)s::uuid)
        and i.id <> %(item)s::uuid
    order by i.rank, i.created, i.id
    limit 1
),

ahead as (
    select i.id
    from jobs.items as i
    where
        i.tenant = %(tenant)s
        and i.queue = %(queue)s
        and jobs.in_view(i, 'waiting', %(now)s)
        and jobs.in_reach(i, %(customers)s::text[], %(workspaces)s::text[])
        and (i.rank, i.created, i.id) < (%(rank)s::bigint, %(created)s::timestamptz, %(item)s::uuid)
        and i.id <> %(item)s::uuid
    order by i.rank, i.created, i.id
    limit %(most)s + 1
)

select
    (select count(*) from ahead) as ahead,
    (
        select jobs.item_json(i, p.name, %(now)s, %(exponents)s::jsonb)
        from above as i
        left join jobs.people as p on i.holder = p.id
    ) as above,
    (
        select jobs.item_json(i, p.name, %(now)s, %(exponents)s::jsonb)
        from below as i
        left join jobs.people as p on i.holder = p.id
    ) as below
