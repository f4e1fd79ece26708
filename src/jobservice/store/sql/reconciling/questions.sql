-- The next payouts of a tenant to ask the outside world about: every open one of these queues, and those released of
-- late; with the turn in which each was sent last, if it was.
select
    i.id::text as item,
    i.queue,
    i.title,
    i.business_key,
    i.amount_minor,
    i.currency,
    right(i.account, 4) as last4,
    i.held,
    i.plan::text as plan,
    r.item is not null as released,
    t.turn
from jobs.items as i
left join jobs.releases as r on i.id = r.item
left join lateral (
    select s.turn
    from jobs.plan_items as s
    where s.item = i.id and s.outward_key is not null
    order by s.sent_at desc nulls last
    limit 1
) as t on true
where
    i.tenant = %(tenant)s
    and i.queue = any(%(queues)s)
    and i.about is null
    and i.amount_minor is not null
    and i.id > %(after)s::uuid
    and (i.closed_at is null or r.at > jobs.now() - make_interval(days => %(days)s))
order by i.id
limit %(most)s
