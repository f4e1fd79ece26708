-- Writes occurrences; one whose identity is there already is what it was.
insert into jobs.occurrences
(tenant, schedule, scheduled_at, origin, zone, local_time, clock, clock_policy, tzdata, lock, due_at, miss_at)
select
    g.tenant,
    g.schedule,
    g.at as scheduled_at,
    g.origin,
    g.zone,
    g.local_time,
    g.clock,
    g.clock_policy,
    %(tzdata)s,
    g.lock,
    g.at as due_at,
    g.miss_at
from
    jsonb_to_recordset(%(rows)s)
        as g (
            tenant text,
            schedule text,
            at timestamptz,
            origin text,
            zone text,
            local_time timestamp,
            clock text,
            clock_policy text,
            lock text,
            miss_at timestamptz
        )
where
    exists (
        select 1 from jobs.duties as d
        where d.name = %(name)s and d.holder = %(holder)s and d.fence = %(fence)s
    )
order by g.at
on conflict (tenant, schedule, scheduled_at) do nothing
