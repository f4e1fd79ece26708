-- Adds items with their first versions, in one round trip: applications push thousands in one transaction, a demo
-- tens of thousands. `each`: every item gets its own row in the trail and a hint; else the batch gets one row, and
-- nobody is told. Where a business key was used before nothing is added, so that a caller's own transaction goes on.
with added as (
    insert into jobs.items (
        tenant, queue, business_key, title, created, amount_minor, currency, payee_id, payee_name, account,
        customer, workspace, inputs, payload, pushed_by, changed_by, words,
        rank, score, score_rule, score_version, score_inputs, score_parts, score_failure, scored_at, rescore_at
    )
    select
        %(tenant)s,
        %(queue)s,
        n.key,
        n.title,
        n.created,
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
        %(pusher)s as changed_by,
        n.words,
        n.rank,
        n.score,
        n.score_rule,
        n.score_version,
        n.score_inputs,
        n.score_parts,
        n.score_failure,
        n.scored_at,
        n.rescore_at
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
                account text,
                customer text,
                workspace text,
                inputs jsonb,
                payload jsonb,
                words text,
                rank bigint,
                score integer,
                score_rule text,
                score_version integer,
                score_inputs jsonb,
                score_parts jsonb,
                score_failure text,
                scored_at timestamptz, rescore_at timestamptz
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
        jsonb_strip_nulls(
            jsonb_build_object(
                'queue', a.queue,
                'key', a.business_key,
                'minor', a.amount_minor,
                'currency', a.currency,
                'account_last4', right(a.account, 4)
            )
        ) as detail,
        %(reference)s
    from added as a
    where %(each)s
    union all
    select
        %(tenant)s,
        %(pusher)s,
        'push-items' as action,
        %(queue)s,
        'done' as outcome,
        jsonb_build_object('items', count(*)) as detail,
        %(reference)s
    from added
    where not %(each)s
    having count(*) > 0
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
    where %(each)s
    returning tenant
)

select
    coalesce(array_agg(a.id::text), '{}') as ids,
    (
        select count(pg_notify('jobs_hints', t.tenant))
        from (select distinct told.tenant from told) as t
    ) as notified
from added as a
