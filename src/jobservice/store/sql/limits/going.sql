-- What a plan sends out in each currency, what its owner sent by other plans in the 24 hours before, how much of that
-- was freed from the code, and two of its accounts: the one that would have most money and the one that would have most
-- items. A plan counts for 24 hours from when it ended, or from the end of its window, which is a week off at most:
-- until then money of it can leave. Sums are put beside each other rather than joined: nothing is known yet of the rows
-- of a plan that is new, and a join of 50,000 of them may be planned for one.
with recent as materialized (
    select
        o.currency,
        o.account,
        o.person,
        o.gross_minor,
        o.count,
        o.single
    from jobs.outgoings as o
    inner join jobs.plans as p on o.plan = p.id
    where
        o.tenant = %(tenant)s
        and o.plan <> %(plan)s::uuid
        and o.at > %(since)s::timestamptz - interval '7 days'
        and least(p.ended_at, p.apply_until) > %(since)s
),

sums as (
    select
        i.currency,
        i.account,
        i.amount_minor as minor,
        1 as items,
        0 as used_minor,
        0 as used_items
    from jobs.plan_items as i
    where i.tenant = %(tenant)s and i.plan = %(plan)s::uuid and i.amount_minor > 0
    union all
    select
        r.currency,
        r.account,
        0 as minor,
        0 as items,
        r.gross_minor as used_minor,
        r.count as used_items
    from recent as r
),

accounts as materialized (
    select
        s.currency,
        right(s.account, 4) as last4,
        sum(s.minor) as minor,
        sum(s.items) as items,
        max(s.minor) as largest,
        sum(s.used_minor) as used_minor,
        sum(s.used_items) as used_items,
        row_number() over (
            partition by s.currency
            order by sum(s.items) > 0 desc, sum(s.minor) + sum(s.used_minor) desc, s.account
        ) as by_money,
        row_number() over (
            partition by s.currency
            order by sum(s.items) > 0 desc, sum(s.items) + sum(s.used_items) desc, s.account
        ) as by_items
    from sums as s
    group by s.currency, s.account
),

planned as materialized (
    select
        a.currency,
        sum(a.minor) as minor,
        sum(a.items) as items,
        max(a.largest) as largest,
        jsonb_agg(
            jsonb_build_object(
                'last4', a.last4,
                'minor', a.minor,
                'items', a.items,
                'used_minor', a.used_minor,
                'used_items', a.used_items
            )
            order by a.by_money
        ) filter (where 1 in (a.by_money, a.by_items)) as accounts
    from accounts as a
    group by a.currency
    having sum(a.items) > 0
),

used as materialized (
    select
        r.currency,
        sum(r.gross_minor) as minor,
        sum(r.count) as items,
        coalesce(sum(r.gross_minor) filter (where r.single), 0) as freed_minor,
        coalesce(sum(r.count) filter (where r.single), 0) as freed_items
    from recent as r
    where r.person = %(owner)s
    group by r.currency
)

select
    p.currency,
    p.minor,
    p.items,
    p.largest,
    p.accounts,
    coalesce(u.minor, 0) as used_minor,
    coalesce(u.items, 0) as used_items,
    coalesce(u.freed_minor, 0) as freed_minor,
    coalesce(u.freed_items, 0) as freed_items
from planned as p
left join used as u on p.currency = u.currency
order by p.currency
