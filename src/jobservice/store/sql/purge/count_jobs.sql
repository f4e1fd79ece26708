-- How many jobs of a family would go: of lineages that settled whole before an instant and have nothing left to do.
select count(*) as count
from jobs.jobs as k
where
    k.family = %(family)s
    and k.id < %(until)s
    and k.settled_at < %(past)s
    and not exists (
        select 1
        from jobs.jobs as j
        where
            j.family = k.family
            and j.lineage = k.lineage
            and (
                j.settled_at is null
                or j.settled_at >= %(past)s
                or j.failure_effect_state = 'due'
                or exists (
                    select 1
                    from jobs.job_notices as n
                    where n.job = j.id and n.state in ('due', 'claimed')
                )
            )
    )
