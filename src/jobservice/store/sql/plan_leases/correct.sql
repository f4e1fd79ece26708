-- Sets what a plan that has ended counts for limits to what went out, or may have.
update jobs.outgoings as o
set
    gross_minor = coalesce(w.gross_minor, 0),
    count = coalesce(w.items, 0)
from jobs.outgoings as f
inner join jobs.plans as p on f.plan = p.id
left join (
    select
        t.account,
        t.currency,
        sum(t.amount_minor) as gross_minor,
        count(*) as items
    from jobs.plan_items as t
    where t.plan = %(plan)s::uuid and t.tenant = %(tenant)s and t.turn in ('done', 'uncertain') and t.amount_minor > 0
    group by t.account, t.currency
) as w on f.account = w.account and f.currency = w.currency
where
    o.plan = f.plan
    and o.account = f.account
    and o.currency = f.currency
    and o.plan = %(plan)s::uuid
    and o.tenant = %(tenant)s
    and p.accounted_at is not null
