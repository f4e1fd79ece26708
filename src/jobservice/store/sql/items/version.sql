-- An item as an earlier version knew it.
select
    v.money_version,
    v.state,
    v.set_aside_until,
    v.title,
    v.amount_minor,
    v.currency,
    v.payee_id,
    v.payee_name,
    v.account,
    v.inputs
from jobs.item_versions as v
where v.item = %(item)s::uuid and v.money_version = %(money_version)s and v.tenant = %(tenant)s
