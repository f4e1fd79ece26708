-- Adds an item with its first version, audit row and hint, in one round trip: applications push thousands in one
-- transaction. No row where the business key was used before, so that a caller's own transaction goes on.
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
),

audited as (
    insert into jobs.audit (tenant, person, action, subject, outcome, detail, reference)
    select
        a.tenant,
        a.pushed_by as person,
        'push-item' as action,
        a.id::text as subject,
        'done' as outcome,
        %(audit_detail)s as detail,
        %(audit_reference)s as reference
    from added as a
),

told as (
    insert into jobs.hints (tenant, topic, queue, ref, version)
    select
        a.tenant,
        'item' as topic,
        a.queue,
        a.id::text as ref,
        a.row_version
    from added as a
    returning tenant
)

select
    a.id,
    pg_notify('jobs_hints', t.tenant) as notified
from added as a
cross join told as t
