-- How many jobs of some kinds (null: all) a tenant has in each of some statuses, counted to `most` + 1 at the most.
with kinds as (
    select k.kind
    from unnest(%(kinds)s::text[]) as k (kind)
    union
    select k.kind
    from jobs.kinds_of(%(tenant)s) as k
    where %(kinds)s::text[] is null
)

select
    v.status,
    (
        select count(*)
        from (
            select l.id
            from kinds as k
            cross join
                lateral (
                    select j.id
                    from jobs.jobs as j
                    where j.tenant = %(tenant)s and j.kind = k.kind and j.status = v.status
                    order by j.id desc
                    limit %(most)s + 1
                ) as l
            limit %(most)s + 1 -- noqa: AM09
        ) as c
    ) as many
from unnest(%(statuses)s::text[]) as v (status)
