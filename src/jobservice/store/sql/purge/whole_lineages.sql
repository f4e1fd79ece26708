-- The jobs of those lineages of which every job is locked here, was settled before an instant, and has nothing left to
-- do: no failure effect, nobody to be told.
with whole as (
    select l.lineage
    from unnest(%(lineages)s::uuid[]) as l (lineage)
    where
        not exists (
            select 1
            from jobs.jobs as j
            where
                j.family = %(family)s
                and j.lineage = l.lineage
                and (
                    j.settled_at is null
                    or j.settled_at >= %(past)s
                    or j.failure_effect_state = 'due'
                    or not j.id = any(%(locked)s::uuid[])
                    or exists (
                        select 1
                        from jobs.job_notices as n
                        where n.job = j.id and n.state in ('due', 'claimed')
                    )
                )
        )
)

select
    j.id,
    j.tenant,
    j.execution_handle as handle,
    j.cause
from jobs.jobs as j
where j.family = %(family)s and j.lineage in (select w.lineage from whole as w)
