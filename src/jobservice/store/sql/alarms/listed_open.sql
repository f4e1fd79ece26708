-- Open alarms of a tenant behind a place, the most urgent kind first, of a kind those that are open longest.
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
    a.version,
    array_position(%(kinds)s::text[], a.kind) as urgency
from jobs.alarms as a
left join jobs.people as p on a.acknowledged_by = p.id
where
    a.tenant = %(tenant)s
    and a.cleared_at is null
    and (array_position(%(kinds)s::text[], a.kind), a.opened_at, a.id)
    > (%(urgency)s::integer, %(at)s::timestamptz, %(id)s::uuid)
order by array_position(%(kinds)s::text[], a.kind), a.opened_at, a.id
limit %(most)s
