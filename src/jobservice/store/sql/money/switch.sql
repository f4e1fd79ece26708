-- The switch of a tenant, whoever stopped it, and whether this database has to be reconciled first (MONEY.md 20, 22).
select
    s.stopped,
    s.at,
    s.by,
    p.name as by_name,
    s.reason,
    s.version,
    jobs.restored() as restored,
    jobs.now() as now
from jobs.money_switches as s
left join jobs.people as p on s.by = p.id
where s.tenant = %(tenant)s
