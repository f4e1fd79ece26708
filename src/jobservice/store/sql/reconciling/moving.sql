-- Tenants whose money is not stopped.
select s.tenant
from jobs.money_switches as s
where not s.stopped
order by s.tenant
