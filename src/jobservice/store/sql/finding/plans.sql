-- Plans that a text names: by name, id or the beginning of one; `owner`: of that person alone.
select
    case when p.name = %(text)s then 'name' else 'id' end as matched,
    p.id::text as id,
    p.name,
    p.state,
    p.made_at as at
from (
    select n.id
    from jobs.plans as n
    where n.tenant = %(tenant)s and n.name = %(name)s
    union
    select d.id
    from jobs.plans as d
    where d.tenant = %(tenant)s and d.id >= %(first)s::uuid and d.id <= %(last)s::uuid
) as m
inner join jobs.plans as p on m.id = p.id
where p.tenant = %(tenant)s and (%(owner)s::text is null or p.owner = %(owner)s::text)
order by p.id desc
limit %(most)s
