-- Occurrences that a text names: by id or the beginning of one, or by schedule and instant. Each is read by its id
-- (`limit 1` keeps the planner from walking the whole table in the order of the answer).
select
    case when m.named then 'name' else 'id' end as matched,
    l.id::text as id,
    l.schedule,
    l.scheduled_at,
    l.state,
    l.scheduled_at as at
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
cross join
    lateral (
        select
            o.id,
            o.schedule,
            o.scheduled_at,
            o.state
        from jobs.occurrences as o
        where o.id = m.id and o.tenant = %(tenant)s
        limit 1 -- noqa: AM09
    ) as l
order by l.id desc
limit %(most)s
