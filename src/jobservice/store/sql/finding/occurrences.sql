-- Occurrences that a text names: by id or the beginning of one, or by schedule and instant.
select
    case when m.named then 'name' else 'id' end as matched,
    o.id::text as id,
    o.schedule,
    o.scheduled_at,
    o.state,
    o.scheduled_at as at
from (
    select
        n.id,
        true as named
    from jobs.occurrences as n
    where n.tenant = %(tenant)s and n.schedule = %(schedule)s::text and n.scheduled_at = %(instant)s::timestamptz
    union
    select
        d.id,
        false as named
    from jobs.occurrences as d
    where d.tenant = %(tenant)s and d.id >= %(deep_first)s::uuid and d.id <= %(deep_last)s::uuid
) as m
inner join jobs.occurrences as o on m.id = o.id
where o.tenant = %(tenant)s
order by o.id desc
limit %(most)s
