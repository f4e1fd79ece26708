-- How many jobs of some customers or of some workspaces of a tenant there are of each status, of the latest `each` of
-- each of them; `cut`: one of them has as many. Read from the index alone.
with of_customers as (
    select v.value
    from unnest(%(lead_customers)s::text[]) as v (value)
),

of_workspaces as (
    select v.value
    from unnest(%(lead_workspaces)s::text[]) as v (value)
),

looked as materialized (
    select
        v.value,
        l.status
    from of_customers as v
    cross join
        lateral (
            select j.status
            from jobs.jobs as j
            where j.tenant = %(tenant)s and j.customer = v.value
            order by j.id desc
            limit %(each)s
        ) as l
    union all
    select
        v.value,
        l.status
    from of_workspaces as v
    cross join lateral (
        select j.status
        from jobs.jobs as j
        where j.tenant = %(tenant)s and j.workspace = v.value
        order by j.id desc
        limit %(each)s
    ) as l
)

select
    l.status,
    count(*) as many,
    exists(
        select 1
        from looked as c
        group by c.value
        having count(*) >= %(each)s
    ) as cut
from looked as l
group by l.status
