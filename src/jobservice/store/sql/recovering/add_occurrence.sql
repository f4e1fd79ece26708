-- Makes the occurrence of a skipped instant for a recovery, due now: no row where one of that instant is there, where
-- retention has come past it, or where its schedule is switched off or gone by now.
insert into jobs.occurrences (
    tenant, schedule, scheduled_at, origin, zone, local_time, clock, clock_policy, tzdata, lock, due_at, recovery
)
select
    %(tenant)s,
    s.schedule,
    %(at)s::timestamptz,
    'made-up' as origin,
    %(zone)s,
    %(local_time)s::timestamp,
    %(clock)s::text,
    %(clock_policy)s::text,
    %(tzdata)s,
    %(lock)s,
    jobs.now() as due_at,
    %(recovery)s::uuid
from jobs.schedules as s
where
    s.tenant = %(tenant)s
    and s.schedule = %(schedule)s
    and s.retired_at is null
    and coalesce(s.floor_at < %(at)s::timestamptz, true)
    and not jobs.switched_off(%(tenant)s, %(schedule)s)
on conflict (tenant, schedule, scheduled_at) do nothing
returning id::text as id
