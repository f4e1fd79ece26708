-- Recoveries that a text names: by name, id or the beginning of one. Each is read by its id (`limit 1` keeps the
-- planner from walking the whole table in the order of the answer).
select
    case when l.name = %(text)s then 'name' else 'id' end as matched,
    l.id::text as id,
    l.name,
    l.act,
    l.owner,
    l.state,
    l.made_at as at
from (
    select n.id
    from jobs.recoveries as n
    where n.tenant = %(tenant)s and n.name = %(name)s
    union
    select d.id
    from jobs.recoveries as d
    where d.tenant = %(tenant)s and d.id >= %(first)s::uuid and d.id <= %(last)s::uuid
) as m
cross join
    lateral (
        select
            r.id,
            r.name,
            r.act,
            r.owner,
            r.state,
            r.made_at
        from jobs.recoveries as r
        where r.id = m.id and r.tenant = %(tenant)s
        limit 1 -- noqa: AM09
    ) as l
order by l.id desc
limit %(most)s
