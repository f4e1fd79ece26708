-- What a plan sends out in each currency, what its owner sent otherwise in the 24 hours before, how much of that was
-- freed from the code, and two of its accounts: the one that would have most money and the one with most items.
with planned as (
    select
        i.currency,
        i.account,
        sum(i.amount_minor) as minor,
        count(*) as items,
        max(i.amount_minor) as largest
    from jobs.plan_items as i
    where i.tenant = %(tenant)s and i.plan = %(plan)s::uuid and i.amount_minor > 0
    group by i.currency, i.account
),

used as (
    select
        o.currency,
        sum(o.gross_minor) as minor,
        sum(o.count) as items,
        coalesce(sum(o.gross_minor) filter (where o.single), 0) as freed_minor,
        coalesce(sum(o.count) filter (where o.single), 0) as freed_items
    from jobs.outgoings as o
    where o.tenant = %(tenant)s and o.person = %(owner)s and o.at > %(since)s and o.plan <> %(plan)s::uuid
    group by o.currency
),

received as (
    select
        o.currency,
        o.account,
        sum(o.gross_minor) as minor,
        sum(o.count) as items
    from planned as p
    inner join jobs.outgoings as o on p.currency = o.currency and p.account = o.account
    where o.tenant = %(tenant)s and o.at > %(since)s and o.plan <> %(plan)s::uuid
    group by o.currency, o.account
),

accounts as (
    select
        p.currency,
        p.minor,
        p.items,
        right(p.account, 4) as last4,
        coalesce(r.minor, 0) as used_minor,
        coalesce(r.items, 0) as used_items,
        row_number() over (
            partition by p.currency
            order by p.minor + coalesce(r.minor, 0) desc, p.account
        ) as by_money,
        row_number() over (
            partition by p.currency
            order by p.items + coalesce(r.items, 0) desc, p.account
        ) as by_items
    from planned as p
    left join received as r on p.currency = r.currency and p.account = r.account
)

select
    p.currency,
    sum(p.minor) as minor,
    sum(p.items) as items,
    max(p.largest) as largest,
    coalesce(max(u.minor), 0) as used_minor,
    coalesce(max(u.items), 0) as used_items,
    coalesce(max(u.freed_minor), 0) as freed_minor,
    coalesce(max(u.freed_items), 0) as freed_items,
    (
        select
            jsonb_agg(
                jsonb_build_object(
                    'last4', a.last4,
                    'minor', a.minor,
                    'items', a.items,
                    'used_minor', a.used_minor,
                    'used_items', a.used_items
                )
                order by a.by_money
            )
        from accounts as a
        where a.currency = p.currency and 1 in (a.by_money, a.by_items)
    ) as accounts
from planned as p
left join used as u on p.currency = u.currency
group by p.currency
order by p.currency
