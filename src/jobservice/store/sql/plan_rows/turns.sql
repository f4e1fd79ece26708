-- What plans did about an item, newest first.
select
    p.id::text as plan,
    p.name,
    p.owner,
    coalesce(o.name, p.owner) as owner_name,
    p.state in ('armed', 'applying', 'paused') as held,
    t.turn,
    t.sentence,
    t.reference,
    t.outward_key,
    t.sent_at,
    t.ended_at
from jobs.plan_items as t
inner join jobs.plans as p on t.plan = p.id
left join jobs.people as o on p.owner = o.id
where t.tenant = %(tenant)s and t.item = %(item)s::uuid and p.confirmed_at is not null
order by p.confirmed_at desc, p.id desc
limit %(most)s
