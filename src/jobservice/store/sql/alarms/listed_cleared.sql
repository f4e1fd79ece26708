-- Alarms of a tenant that are over, behind a place, the latest first.
select
    a.id::text as id,
    a.kind,
    a.subject,
    a.schedule,
    a.sentence,
    a.count,
    a.opened_at,
    a.seen_at,
    a.cleared_at,
    a.acknowledged_at,
    a.acknowledged_by,
    p.name as acknowledged_by_name,
    a.note,
    a.told,
    a.told_at,
    a.told_words,
    a.version
from jobs.alarms as a
left join jobs.people as p on a.acknowledged_by = p.id
where
    a.tenant = %(tenant)s
    and a.cleared_at is not null
    and (a.cleared_at, a.id) < (%(at)s::timestamptz, %(id)s::uuid)
order by a.cleared_at desc, a.id desc
limit %(most)s
