-- The items of a locked plan that are no longer as it froze them, with what they were: content, state, the plan's claim
-- under its fence, and who pushed and who last changed the payment (MONEY.md 12, 18). In the order of their numbers, at
-- most so many, each with the count of all.
with clock as materialized (
    select jobs.now() as now
),

changed as materialized (
    select
        t.number,
        t.item as item_id,
        t.title as frozen_title,
        t.money_version as frozen_version,
        t.amount_minor as frozen_minor,
        t.currency as frozen_currency,
        t.payee_id as frozen_payee_id,
        t.payee_name as frozen_payee_name,
        t.account as frozen_account,
        i.money_version,
        i.state,
        i.set_aside_until,
        i.title,
        i.amount_minor,
        i.currency,
        i.payee_id,
        i.payee_name,
        i.account,
        i.inputs,
        i.pushed_by,
        i.payment_changed_by,
        i.holder,
        coalesce(i.expires_at, '-infinity') > c.now as live,
        coalesce(i.plan = t.plan and not i.held and i.holder = %(owner)s and i.fence = t.fence, false) as ours,
        count(*) over () as total
    from jobs.plan_items as t
    inner join jobs.items as i on t.item = i.id
    cross join clock as c
    where
        t.tenant = %(tenant)s
        and t.plan = %(plan)s::uuid
        and (
            i.tenant <> t.tenant
            or i.queue <> %(queue)s
            or i.money_version <> t.money_version
            or i.amount_minor is distinct from t.amount_minor
            or i.currency is distinct from t.currency
            or i.payee_id is distinct from t.payee_id
            or i.payee_name is distinct from t.payee_name
            or i.account is distinct from t.account
            or i.closed_at is not null
            or not i.state = any(%(states)s::text[])
            or i.set_aside_until > c.now
            or i.plan is distinct from t.plan
            or i.held
            or i.holder is distinct from %(owner)s
            or i.fence <> t.fence
            or coalesce(i.expires_at, '-infinity') <= c.now
            or i.pushed_by = %(owner)s
            or i.payment_changed_by is not distinct from %(owner)s
        )
    order by t.number
    limit %(most)s
)

select
    c.*,
    c.item_id::text as item,
    c.ours and c.live as claimed,
    v.state as frozen_state,
    v.set_aside_until as frozen_set_aside_until,
    v.inputs as frozen_inputs,
    case when c.live then coalesce(h.name, c.holder) end as holder_name
from changed as c
left join jobs.item_versions as v on c.item_id = v.item and c.frozen_version = v.money_version
left join jobs.people as h on c.holder = h.id
order by c.number
