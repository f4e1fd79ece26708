-- What people said about payouts that are uncertain and that is not written yet, oldest first.
select
    e.plan::text as plan,
    e.item::text as item,
    e.person,
    e.outcome,
    e.sentence,
    e.reference,
    coalesce(p.name, e.person) as person_name
from jobs.plan_items as t
inner join jobs.plan_evidence as e on t.plan = e.plan and t.item = e.item
left join jobs.people as p on e.person = p.id
where t.tenant = %(tenant)s and t.turn = 'uncertain' and e.source = 'person'
order by e.id
limit %(most)s
