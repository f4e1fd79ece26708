-- Makes an occurrence of a manual schedule that a person starts; no row where one of that instant is there, or where
-- its schedule is switched off or the tenant's work stopped by now.
insert into jobs.occurrences (tenant, schedule, scheduled_at, origin, zone, tzdata, lock, due_at)
select
    %(tenant)s,
    %(schedule)s,
    %(at)s::timestamptz,
    'manual' as origin,
    'UTC' as zone,
    %(tzdata)s,
    %(lock)s,
    %(at)s::timestamptz
where not jobs.switched_off(%(tenant)s, %(schedule)s) and not jobs.stopped(%(tenant)s, 'tenant', %(tenant)s)
on conflict (tenant, schedule, scheduled_at) do nothing
returning id::text as id
