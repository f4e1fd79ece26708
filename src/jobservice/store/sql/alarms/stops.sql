-- Every stop that is in force, in all tenants; the switch of money has no name.
select
    s.tenant,
    s.scope,
    s.name,
    s.at as since,
    p.name as by_name
from jobs.stops as s
left join jobs.people as p on s.by = p.id
union all
select
    m.tenant,
    null as scope,
    'money' as name,
    m.at as since,
    p.name as by_name
from jobs.money_switches as m
left join jobs.people as p on m.by = p.id
where m.stopped
order by tenant, scope, name
