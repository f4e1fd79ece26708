-- Adds the item that asks people whether a payout was paid, once: the payout's rows are locked. It has no business key.
with added as (
    insert into jobs.items (
        tenant, queue, title, created, amount_minor, currency, payee_id, payee_name, account, customer, workspace,
        pushed_by, changed_by, words, about
    )
    select
        i.tenant,
        %(queue)s,
        i.title,
        jobs.now() as created,
        t.amount_minor,
        t.currency,
        t.payee_id,
        t.payee_name,
        t.account,
        i.customer,
        i.workspace,
        'service' as pushed_by,
        'service' as changed_by,
        i.words,
        i.id as about
    from jobs.plan_items as t
    inner join jobs.items as i on t.item = i.id
    where
        t.tenant = %(tenant)s
        and t.plan = %(plan)s::uuid
        and t.item = %(item)s::uuid
        and t.turn = 'uncertain'
        and not exists (
            select 1
            from jobs.items as r
            where r.about = i.id and r.closed_at is null
        )
    returning *
),

kept as (
    insert into jobs.item_versions (
        item, money_version, tenant, changed_by, state, title, amount_minor, currency, payee_id, payee_name, account,
        inputs
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

insert into jobs.audit (tenant, action, subject, outcome, detail)
select
    a.tenant,
    'ask-whether-paid' as action,
    a.id::text as subject,
    'done' as outcome,
    jsonb_build_object('queue', a.queue, 'about', a.about) as detail
from added as a
