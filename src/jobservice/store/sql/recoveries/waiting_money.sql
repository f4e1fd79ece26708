-- What confirmed plans of these bulk commands that are being applied hold waiting to be tried again, by currency.
select
    i.currency,
    sum(i.amount_minor)::bigint as out_minor,
    count(*)::integer as count
from jobs.plans as p
inner join jobs.plan_items as i on p.id = i.plan
where
    p.tenant = %(tenant)s
    and p.command = any(%(commands)s::text[])
    and p.state = 'applying'
    and i.turn = 'waiting'
    and i.amount_minor > 0
group by i.currency
order by i.currency
