-- The latest acts of those actions on a schedule and its occurrences, as the trail has them, the newest first.
select
    a.at,
    a.person,
    p.name as person_name,
    a.action,
    coalesce(a.detail ->> 'occurrence', a.subject) as subject,
    a.outcome,
    coalesce(a.detail ->> 'reason', a.detail ->> 'sentence', '') as sentence
from jobs.audit as a
left join jobs.people as p on a.person = p.id
where
    a.tenant = %(tenant)s
    and a.schedule = %(schedule)s
    and a.action = any(%(actions)s)
order by a.at desc, a.id desc
limit %(most)s
