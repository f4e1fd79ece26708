-- Keeps an item as it stands as one version that mattered.
insert into jobs.item_versions (
    item, money_version, tenant, changed_by, state, set_aside_until, title, amount_minor, currency, payee_id,
    payee_name, account, inputs
)
select
    i.id,
    i.money_version,
    i.tenant,
    %(changer)s,
    i.state,
    i.set_aside_until,
    i.title,
    i.amount_minor,
    i.currency,
    i.payee_id,
    i.payee_name,
    i.account,
    i.inputs
from jobs.items as i
where i.id = %(item)s::uuid and i.tenant = %(tenant)s
