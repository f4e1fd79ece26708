-- What was missed and does not run: a row of skipped instants counts it. What was merged into it is merged into what
-- runs in its place now.
with given as (
    select g.*
    from
        jsonb_to_recordset(%(rows)s)
            as g (tenant text, schedule text, at timestamptz, merged_into timestamptz)
),

gone as (
    delete from jobs.occurrences as o
    using given as g
    where
        o.tenant = g.tenant
        and o.schedule = g.schedule
        and o.scheduled_at = g.at
        and o.state = 'scheduled'
        and o.fence = 0
        and o.replays = 0
        and o.recovery is null
        and exists (
            select 1 from jobs.duties as d
            where d.name = %(name)s and d.holder = %(holder)s and d.fence = %(fence)s
        )
    returning o.tenant, o.schedule, g.at, g.merged_into
)

update jobs.skipped_instants as k
set merged_into = o.merged_into
from gone as o
where k.tenant = o.tenant and k.schedule = o.schedule and k.merged_into = o.at and o.merged_into is not null
