-- An item's version and the one before it, the earlier first; of an account the last four, and whether it changed.
select
    v.money_version,
    v.changed_at,
    v.changed_by,
    v.state,
    v.set_aside_until,
    v.title,
    v.amount_minor,
    v.currency,
    v.payee_id,
    v.payee_name,
    right(v.account, 4) as account_last4,
    coalesce(v.account, '') <> coalesce(lag(v.account) over (order by v.money_version), '') as account_changed,
    v.inputs
from jobs.item_versions as v
where
    v.item = %(item)s::uuid
    and v.tenant = %(tenant)s
    and v.money_version between %(version)s::bigint - 1 and %(version)s::bigint
order by v.money_version
