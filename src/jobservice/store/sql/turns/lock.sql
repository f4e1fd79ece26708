-- Locks what a turn compares and writes: the gate of the tenant's switch, the plan (shared), its row, the item.
-- Whatever changed while the locks were waited for is compared in the next statement (MONEY.md 30).
with gate as materialized (
    select pg_advisory_xact_lock_shared(1836021369, hashtext(%(tenant)s))::text as passed
),

planned as materialized (
    select
        p.id,
        p.owner
    from gate
    cross join jobs.plans as p
    where p.tenant = %(tenant)s and p.id = %(plan)s::uuid
    for share of p
)

select
    p.owner,
    t.item::text as item,
    t.number,
    t.business_key,
    t.money_version,
    t.fence,
    t.account_mark,
    t.title,
    t.amount_minor,
    t.currency,
    t.payee_id,
    t.payee_name,
    t.account,
    t.inputs,
    t.turn,
    t.attempts,
    t.turn_fence,
    i.queue as item_queue,
    i.business_key as item_key,
    i.created as item_created,
    i.state as item_state,
    i.set_aside_until as item_set_aside_until,
    i.money_version as item_money_version,
    i.title as item_title,
    i.amount_minor as item_amount_minor,
    i.currency as item_currency,
    i.payee_id as item_payee_id,
    i.payee_name as item_payee_name,
    i.account as item_account,
    i.inputs as item_inputs,
    i.pushed_by,
    i.payment_changed_by,
    jobs.now() as now
from planned as p
inner join jobs.plan_items as t on p.id = t.plan
inner join jobs.items as i on t.item = i.id
where t.tenant = %(tenant)s and t.item = %(item)s::uuid
for update of t, i
