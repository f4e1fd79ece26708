-- The uncertain payout that a review item asks about, and the plan in whose turn it became so. Locked: two people who
-- answer for it do so one after the other.
select
    t.plan::text as plan,
    t.item::text as item,
    t.turn,
    t.title,
    t.outward_key,
    p.name as plan_name,
    p.owner,
    p.queue,
    p.version,
    (
        select count(*)
        from jobs.plan_evidence as e
        where e.plan = t.plan and e.item = t.item and e.source = 'person'
    ) > 0 as answered
from jobs.items as r
inner join jobs.plan_items as t on r.about = t.item and r.tenant = t.tenant
inner join jobs.plans as p on t.plan = p.id
where r.tenant = %(tenant)s and r.id = %(item)s::uuid and t.outward_key is not null
order by t.turn = 'uncertain' desc, t.sent_at desc
limit 1
for update of t
