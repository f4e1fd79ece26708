-- What went out by person and currency: released today (UTC), and what confirmed plans sent in the 24 hours that limits
-- count.
with todays as (
    select
        r.person,
        r.currency,
        sum(r.amount_minor) as minor,
        count(*) as items
    from jobs.releases as r
    where
        r.tenant = %(tenant)s
        and r.at >= date_trunc('day', %(now)s::timestamptz, 'UTC')
        and r.amount_minor > 0
    group by r.person, r.currency
),

days as (
    select
        o.person,
        o.currency,
        sum(o.gross_minor) as minor,
        sum(o.count) as items
    from jobs.outgoings as o
    inner join jobs.plans as n on o.plan = n.id
    where
        o.tenant = %(tenant)s
        and o.at > %(since)s::timestamptz - interval '7 days'
        and least(n.ended_at, n.apply_until) > %(since)s
    group by o.person, o.currency
)

select
    coalesce(d.person, t.person) as person,
    coalesce(p.name, d.person, t.person) as name,
    coalesce(d.currency, t.currency) as currency,
    coalesce(t.items, 0)::bigint as today_count,
    coalesce(t.minor, 0)::bigint as today_minor,
    coalesce(d.items, 0)::bigint as day_count,
    coalesce(d.minor, 0)::bigint as day_minor
from days as d
full join todays as t on d.person = t.person and d.currency = t.currency
left join jobs.people as p on coalesce(d.person, t.person) = p.id
order by name, person, currency
