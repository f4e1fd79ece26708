-- How many unresolved failures some customers or some workspaces of a tenant have, of the latest `each` of each of
-- them; `cut`: one of them has as many. Read from the index alone.
with of_customers as (
    select
        v.value,
        v.place
    from unnest(%(lead_customers)s::text[]) with ordinality as v (value, place)
),

of_workspaces as (
    select
        v.value,
        v.place
    from unnest(%(lead_workspaces)s::text[]) with ordinality as v (value, place)
),

looked as materialized (
    select
        v.place,
        l.id
    from of_customers as v
    cross join
        lateral (
            select j.id
            from jobs.jobs as j
            where
                j.tenant = %(tenant)s
                and j.status = 'failed'
                and j.resolution is null
                and j.customer = v.value
            order by j.id desc
            limit %(each)s
        ) as l
    union all
    select
        v.place,
        l.id
    from of_workspaces as v
    cross join lateral (
        select j.id
        from jobs.jobs as j
        where
            j.tenant = %(tenant)s
            and j.status = 'failed'
            and j.resolution is null
            and j.workspace = v.value
        order by j.id desc
        limit %(each)s
    ) as l
)

select
    count(*) as many,
    exists(
        select 1
        from looked as c
        group by c.place
        having count(*) >= %(each)s
    ) as cut
from looked
