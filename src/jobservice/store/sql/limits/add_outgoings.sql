-- What a confirmed plan sends out, by account and currency: the rolling sums that limits compare with.
insert into jobs.outgoings (plan, tenant, person, account, currency, gross_minor, count, at, single)
select
    i.plan,
    i.tenant,
    %(owner)s,
    i.account,
    i.currency,
    sum(i.amount_minor) as gross_minor,
    count(*) as count,
    %(now)s,
    %(single)s
from jobs.plan_items as i
where i.tenant = %(tenant)s and i.plan = %(plan)s::uuid and i.amount_minor > 0
group by i.plan, i.tenant, i.account, i.currency
