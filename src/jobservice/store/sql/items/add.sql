-- Adds an item with its first version; no row where the business key was used before, so that a caller's own
-- transaction goes on.
with added as (
    insert into jobs.items (
        tenant, queue, business_key, title, created, amount_minor, currency, payee_id, payee_name, account,
        customer, workspace, inputs, payload, pushed_by, changed_by
    )
    values (
        %(tenant)s, %(queue)s, %(key)s, %(title)s, coalesce(%(created)s::timestamptz, jobs.now()),
        %(amount_minor)s, %(currency)s, %(payee_id)s, %(payee_name)s, %(account)s,
        %(customer)s, %(workspace)s, %(inputs)s, %(payload)s, %(pusher)s, %(pusher)s
    )
    on conflict (tenant, business_key) do nothing
    returning *
),

kept as (
    insert into jobs.item_versions (
        item, money_version, tenant, changed_by, state, title, amount_minor, currency, payee_id, payee_name,
        account, inputs
    )
    select
        a.id,
        a.money_version,
        a.tenant,
        a.changed_by,
        a.state,
        a.title,
        a.amount_minor,
        a.currency,
        a.payee_id,
        a.payee_name,
        a.account,
        a.inputs
    from added as a
)

select a.id
from added as a
