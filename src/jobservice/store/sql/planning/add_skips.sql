-- Writes runs of skipped instants. One that follows on a run of the same cause makes it longer; one that is there
-- already is what it was.
with given as (
    select g.*
    from
        jsonb_to_recordset(%(rows)s)
            as g (
                tenant text,
                schedule text,
                first_at timestamptz,
                last_at timestamptz,
                count bigint,
                policy text,
                cause text,
                local_time timestamp,
                merged_into timestamptz,
                follows timestamptz,
                zone text
            )
    where
        exists (
            select 1 from jobs.duties as d
            where d.name = %(name)s and d.holder = %(holder)s and d.fence = %(fence)s
        )
),

ends as materialized (
    select
        g.*,
        (
            select k.id
            from jobs.skipped_instants as k
            where
                k.tenant = g.tenant
                and k.schedule = g.schedule
                and k.last_at = g.follows
                and k.policy = g.policy
                and k.cause = g.cause
                and k.zone = g.zone
                and k.tzdata = %(tzdata)s
            order by k.id
            limit 1
        ) as before
    from given as g
),

longer as (
    update jobs.skipped_instants as k
    set
        last_at = g.last_at,
        count = k.count + g.count,
        merged_into = g.merged_into,
        decided_at = %(now)s::timestamptz
    from ends as g
    where g.before is not null and k.id = g.before
    returning k.id
)

insert into jobs.skipped_instants
(tenant, schedule, first_at, last_at, count, policy, cause, local_time, merged_into, zone, tzdata, decided_at)
select
    g.tenant,
    g.schedule,
    g.first_at,
    g.last_at,
    g.count,
    g.policy,
    g.cause,
    g.local_time,
    g.merged_into,
    g.zone,
    %(tzdata)s,
    %(now)s::timestamptz as decided_at
from ends as g
where g.before is null
on conflict (tenant, schedule, first_at, policy) do nothing
