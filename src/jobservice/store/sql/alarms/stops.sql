-- Every stop that is in force, in all tenants; the switch of money has no scope. Who made it by their id: a Worker that
-- looks over all tenants sees no names.
select
    s.tenant,
    s.scope,
    s.name,
    s.at as since,
    s.by
from jobs.stops as s
union all
select
    m.tenant,
    null as scope,
    'money' as name,
    m.at as since,
    m.by
from jobs.money_switches as m
where m.stopped
order by tenant, scope, name
