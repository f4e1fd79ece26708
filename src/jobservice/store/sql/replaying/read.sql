-- How a locked occurrence stands, what retention removed of its schedule, and whether that is switched off.
select
    o.id::text as id,
    o.schedule,
    o.scheduled_at,
    o.state,
    o.cause,
    o.error,
    o.ended_at,
    o.attempts,
    o.replays,
    o.version,
    o.discarded_at,
    o.discarded_by,
    coalesce(p.name, o.discarded_by) as discarded_by_name,
    o.discard_reason,
    coalesce(s.floor_at >= o.scheduled_at, false) as removed,
    coalesce(
        s.disabled_at is not null and (s.disabled_until is null or s.disabled_until > jobs.now()), false
    ) as disabled,
    s.disabled_at,
    s.disabled_until,
    coalesce(d.name, s.disabled_by) as disabled_by,
    s.disabled_reason
from jobs.occurrences as o
left join jobs.schedules as s on o.tenant = s.tenant and o.schedule = s.schedule
left join jobs.people as p on o.discarded_by = p.id
left join jobs.people as d on s.disabled_by = d.id
where o.tenant = %(tenant)s and o.id = %(occurrence)s::uuid
