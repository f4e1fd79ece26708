-- Adds a batch of example items with their first versions and one row in the trail; the number of those that are new.
-- No hints: nobody listens yet.
with added as (
    insert into jobs.items (
        tenant, queue, business_key, title, created, amount_minor, currency, payee_id, payee_name, account,
        customer, workspace, inputs, payload, pushed_by, changed_by
    )
    select
        %(tenant)s,
        %(queue)s,
        n.key,
        n.title,
        coalesce(n.created, jobs.now()) as created,
        n.amount_minor,
        n.currency,
        n.payee_id,
        n.payee_name,
        n.account,
        n.customer,
        n.workspace,
        n.inputs,
        n.payload,
        %(pusher)s as pushed_by,
        %(pusher)s as changed_by
    from
        jsonb_to_recordset(%(items)s)
            as n (
                key text,
                title text,
                created timestamptz,
                amount_minor bigint,
                currency text,
                payee_id text,
                payee_name text,
                account text, customer text, workspace text, inputs jsonb, payload jsonb
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

recorded as (
    insert into jobs.audit (tenant, person, action, subject, outcome, detail)
    select
        %(tenant)s,
        %(pusher)s,
        'push-items' as action,
        %(queue)s,
        'done' as outcome,
        jsonb_build_object('items', count(*)) as detail
    from added
    having count(*) > 0
)

select count(*) as new from added
