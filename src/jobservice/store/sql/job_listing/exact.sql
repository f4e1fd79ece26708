-- Jobs of a tenant that a word names whole: by id, submission identity or failure reference, the latest first.
-- What else is asked for is looked at in at most `each` rows; where there are as many, the page ends there (`horizon`).
-- `rows`: with the lines themselves, else only what they are.
with named as materialized (
    select
        j.family,
        j.id
    from jobs.jobs as j
    where j.tenant = %(tenant)s and j.id = %(word_id)s::uuid
    union
    select
        j.family,
        j.id
    from jobs.jobs as j
    where j.tenant = %(tenant)s and j.failure_reference = %(word)s
    union
    select
        k.family,
        l.id
    from jobs.kinds_of(%(tenant)s) as k
    cross join lateral (
        select j.id
        from jobs.jobs as j
        where
            j.family = k.family
            and j.tenant = %(tenant)s
            and j.kind = k.kind
            and j.submission_identity = %(word)s
    ) as l
),

looked as materialized (
    select
        0 as place,
        l.*
    from named as w
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
            j.family = w.family
            and j.id = w.id
            and j.tenant = %(tenant)s
            and j.id < %(before)s::uuid
            and j.id >= %(since)s::uuid
        limit 1 -- noqa: AM09
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
