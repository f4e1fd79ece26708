-- Recoveries that a text names: by name, id or the beginning of one.
select
    case when r.name = %(text)s then 'name' else 'id' end as matched,
    r.id::text as id,
    r.name,
    r.act,
    r.owner,
    r.state,
    r.made_at as at
from (
    select n.id
    from jobs.recoveries as n
    where n.tenant = %(tenant)s and n.name = %(name)s
    union
    select d.id
    from jobs.recoveries as d
    where d.tenant = %(tenant)s and d.id >= %(first)s::uuid and d.id <= %(last)s::uuid
) as m
inner join jobs.recoveries as r on m.id = r.id
where r.tenant = %(tenant)s
order by r.id desc
limit %(most)s
