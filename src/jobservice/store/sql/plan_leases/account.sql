-- The account of a plan: items and money out and back, by turn and currency.
select
    t.turn,
    t.currency,
    count(*) as items,
    coalesce(sum(t.amount_minor) filter (where t.amount_minor > 0), 0)::bigint as out_minor,
    coalesce(-sum(t.amount_minor) filter (where t.amount_minor < 0), 0)::bigint as back_minor
from jobs.plan_items as t
where t.tenant = %(tenant)s and t.plan = %(plan)s::uuid
group by t.turn, t.currency
order by t.turn, t.currency
