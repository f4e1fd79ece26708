-- Folds the oldest changes into the tallies, at most so many; how many. Each row of the tallies is written once.
with gone as (
    delete from jobs.job_tally_changes as c
    where
        c.id in (
            select o.id
            from jobs.job_tally_changes as o
            order by o.tenant, o.id
            limit %(most)s
        )
    returning c.tenant, c.kind, c.status, c.unresolved, c.change
),

folded as (
    insert into jobs.job_tallies as t (tenant, kind, status, unresolved, count)
    select
        g.tenant,
        g.kind,
        g.status,
        g.unresolved,
        sum(g.change) as count
    from gone as g
    group by g.tenant, g.kind, g.status, g.unresolved
    order by g.tenant, g.kind, g.status, g.unresolved
    on conflict (tenant, kind, status, unresolved) do update
        set count = t.count + excluded.count, folded_at = jobs.now()
    returning 1
)

select
    (select count(*) from gone) as changes,
    (select count(*) from folded) as rows
