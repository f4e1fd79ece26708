-- What the plans behind a recovery's jobs that move money released, by currency: what their files say again.
select
    i.currency,
    sum(i.amount_minor)::bigint as out_minor,
    count(*)::integer as count
from (
    select distinct o.plan
    from jobs.recovery_rows as w
    inner join jobs.jobs as j on w.job = j.id
    inner join jobs.jobs as o on j.family = o.family and j.lineage = o.id
    where
        w.tenant = %(tenant)s
        and w.recovery = %(recovery)s::uuid
        and w.moves = 'money'
        and j.tenant = %(tenant)s
        and o.tenant = %(tenant)s
        and o.plan is not null
) as p
inner join jobs.plan_items as i on p.plan = i.plan
where i.turn = 'done' and i.amount_minor > 0
group by i.currency
order by i.currency
