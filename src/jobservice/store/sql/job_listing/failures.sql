-- Jobs of a tenant that failed, of some resolutions (`none`: unresolved), the latest first.
-- What else is asked for is looked at in at most `each` rows of each of them; where one has as many, the page ends
-- there (`horizon`): what follows was not looked at. `rows`: with the lines themselves, else only what they are.
with wanted as (
    select
        v.value,
        v.place
    from unnest(%(lead)s::text[]) with ordinality as v (value, place)
),

looked as materialized (
    select
        v.place,
        l.*
    from wanted as v
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
            and j.status = 'failed'
            and case when j.resolution is null then 'none' else j.resolution end = v.value -- noqa: ST02
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
