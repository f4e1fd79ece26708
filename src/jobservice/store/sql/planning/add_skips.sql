-- Writes runs of skipped instants; one that is there already is what it was.
insert into jobs.skipped_instants as k
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
            zone text
        )
where
    exists (
        select 1 from jobs.duties as d
        where d.name = %(name)s and d.holder = %(holder)s and d.fence = %(fence)s
    )
on conflict (tenant, schedule, first_at, policy) do nothing
