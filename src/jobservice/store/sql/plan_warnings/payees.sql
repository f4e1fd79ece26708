-- The payees of a plan, each name once.
select distinct
    i.payee_id,
    i.payee_name
from jobs.plan_items as i
where i.plan = %(plan)s::uuid and i.tenant = %(tenant)s
order by i.payee_id, i.payee_name
