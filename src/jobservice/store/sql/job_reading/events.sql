-- Lines of a job's history before a sequence, the newest first, with one more than asked for where there is more.
select
    e.sequence,
    e.at,
    e.kind,
    e.step,
    e.status,
    e.progress,
    e.sentence,
    e.person,
    p.name as person_name,
    e.detail
from jobs.job_events as e
left join jobs.people as p on e.person = p.id
where
    e.family = %(family)s
    and e.job = %(job)s::uuid
    and e.tenant = %(tenant)s
    and e.sequence < %(before)s
order by e.sequence desc
limit %(most)s + 1
