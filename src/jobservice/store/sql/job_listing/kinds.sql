-- Jobs of a tenant of some kinds (null: all that there are) and statuses, the latest first.
-- What else is asked for is looked at in at most `each` rows of each of them; where one has as many, the page ends
-- there (`horizon`): what follows was not looked at. `rows`: with the lines themselves, else only what they are.
with kinds as (
    select k.kind
    from unnest(%(kinds)s::text[]) as k (kind)
    union
    select k.kind
    from jobs.kinds_of(%(tenant)s) as k
    where %(kinds)s::text[] is null
),

pairs as (
    select
        k.kind,
        v.status,
        row_number() over () as place
    from kinds as k
    cross join unnest(%(lead)s::text[]) as v (status)
),

looked as materialized (
    select
        v.place,
        l.*
    from pairs as v
    cross join lateral (
        select
            j.family,
            j.id,
            j.status,
            j.resolution,
            jobs.job_fits(
                j, %(kinds)s::text[], %(statuses)s::text[], %(resolutions)s::text[], %(cancelling)s::boolean,
                %(requesters)s::text[], %(scopes)s::text[], %(causes)s::uuid[], %(words)s::text[],
                %(customers)s::text[], %(workspaces)s::text[]
            ) as fits
        from jobs.jobs as j
        where
            j.tenant = %(tenant)s
            and j.kind = v.kind
            and j.status = v.status
            and j.id < %(before)s::uuid
            and j.id >= %(since)s::uuid
        order by j.id desc
        limit %(each)s
    ) as l
),

horizon as (
    select
        (
            select (array_agg(l.id order by l.id desc))[%(each)s::integer] as last
            from looked as l
            group by l.place
            order by last desc nulls last
            limit 1
        ) as id
),

page as (
    select distinct
        l.id,
        l.family,
        l.status,
        l.resolution
    from looked as l
    cross join horizon as h
    where l.fits and (h.id is null or l.id >= h.id)
    order by l.id desc
    limit %(most)s + 1
)

select
    h.id::text as horizon,
    p.id as found,
    p.status as found_status,
    p.status = 'failed' and p.resolution is null as found_unresolved,
    n.*
from horizon as h
left join page as p on true
left join jobs.job_lines as n on %(rows)s and p.family = n.family and p.id = n.id
order by p.id desc
