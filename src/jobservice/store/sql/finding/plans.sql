-- Plans that a text names: by name, id or the beginning of one; `owner`: of that person alone. Each is read by its id
-- (`limit 1` keeps the planner from walking the whole table in the order of the answer).
select
    case when l.name = %(text)s then 'name' else 'id' end as matched,
    l.id::text as id,
    l.name,
    l.state,
    l.made_at as at
from (
    select n.id
    from jobs.plans as n
    where n.tenant = %(tenant)s and n.name = %(name)s
    union
    select d.id
    from jobs.plans as d
    where d.tenant = %(tenant)s and d.id >= %(first)s::uuid and d.id <= %(last)s::uuid
) as m
cross join
    lateral (
        select
            p.id,
            p.name,
            p.state,
            p.made_at
        from jobs.plans as p
        where
            p.id = m.id
            and p.tenant = %(tenant)s
            and (%(owner)s::text is null or p.owner = %(owner)s::text)
        limit 1 -- noqa: AM09
    ) as l
order by l.id desc
limit %(most)s
