-- How many jobs of some kinds (null: all) a tenant has of each status, by the tallies and what changed since: at most
-- `changes` of that; where there is more (`behind`), as the tallies were at `folded_at`.
with since as (
    select
        c.kind,
        c.status,
        c.unresolved,
        c.change
    from jobs.job_tally_changes as c
    where c.tenant = %(tenant)s
    order by c.id
    limit %(changes)s + 1
),

behind as (
    select count(*) > %(changes)s as behind
    from since
)

select
    a.status,
    a.unresolved,
    sum(a.many)::bigint as many,
    max(a.folded_at) as folded_at,
    bool_or(b.behind) as behind
from (
    select
        t.kind,
        t.status,
        t.unresolved,
        t.count as many,
        t.folded_at
    from jobs.job_tallies as t
    where t.tenant = %(tenant)s
    union all
    select
        s.kind,
        s.status,
        s.unresolved,
        s.change as many,
        null as folded_at
    from since as s
    cross join behind as d
    where not d.behind
) as a
cross join behind as b
where %(kinds)s::text[] is null or a.kind = any(%(kinds)s::text[])
group by a.status, a.unresolved
