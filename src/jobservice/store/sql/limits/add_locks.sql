-- Sees to it that every currency that a plan sends out has its row to lock, in the order in which they are locked.
insert into jobs.limit_locks (tenant, currency)
select distinct
    i.tenant,
    i.currency
from jobs.plan_items as i
where i.tenant = %(tenant)s and i.plan = %(plan)s::uuid and i.amount_minor > 0
order by i.currency
on conflict do nothing
