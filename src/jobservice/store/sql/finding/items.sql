-- Work items within reach that a text names: by id or the beginning of one, business key, or what a payout is called
-- outside.
with named as (
    (
        select
            1 as rank,
            'id' as matched,
            i.id
        from jobs.items as i
        where i.tenant = %(tenant)s and i.id >= %(deep_first)s::uuid and i.id <= %(deep_last)s::uuid
        order by i.id desc
        limit %(most)s
    )
    union all
    select
        2 as rank,
        'business key' as matched,
        i.id
    from jobs.items as i
    where i.tenant = %(tenant)s and i.business_key = %(text)s
    union all
    (
        select
            3 as rank,
            'payout reference' as matched,
            p.item as id
        from jobs.plan_items as p
        where p.tenant = %(tenant)s and p.outward_key = %(text)s
        order by p.outward_key
        limit %(most)s
    )
    union all
    (
        select
            4 as rank,
            'reference of the bank' as matched,
            p.item as id
        from jobs.plan_items as p
        where p.tenant = %(tenant)s and p.reference = %(text)s
        order by p.reference
        limit %(most)s
    )
),

best as materialized (
    select
        n.id,
        (array_agg(n.matched order by n.rank))[1] as matched,
        min(n.rank) as rank
    from named as n
    group by n.id
)

select
    b.matched,
    i.id::text as id,
    i.title,
    i.queue,
    i.state,
    i.created as at
from best as b
inner join jobs.items as i on b.id = i.id
where i.tenant = %(tenant)s and jobs.in_reach(i, %(customers)s::text[], %(workspaces)s::text[])
order by b.rank asc, i.id desc
limit %(most)s
