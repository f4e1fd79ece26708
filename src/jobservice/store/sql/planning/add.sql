-- Makes rows for schedules of tenants that have none, planned from now on and to be looked at; one that the records
-- have again begins from now on too.
insert into jobs.schedules as s (tenant, schedule, definition, planned_until, look_at, kept_seconds)
select
    g.tenant,
    g.schedule,
    g.definition,
    %(now)s::timestamptz as planned_until,
    %(now)s::timestamptz as look_at,
    g.kept_seconds
from jsonb_to_recordset(%(rows)s) as g (tenant text, schedule text, definition text, kept_seconds double precision)
where
    exists (
        select 1 from jobs.duties as d
        where d.name = %(name)s and d.holder = %(holder)s and d.fence = %(fence)s
    )
order by g.tenant, g.schedule
on conflict (tenant, schedule) do update
    set
        definition = excluded.definition,
        planned_until = greatest(s.planned_until, excluded.planned_until),
        look_at = excluded.look_at,
        kept_seconds = excluded.kept_seconds,
        retired_at = null,
        parked_at = null,
        parked_reason = null,
        version = s.version + 1
    where s.retired_at is not null
