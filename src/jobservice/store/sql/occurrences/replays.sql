-- The replays of an occurrence, the latest first: who had it run again, why, and how it had ended.
select
    r.replay,
    r.at,
    r.person,
    coalesce(p.name, r.person) as person_name,
    r.reason,
    g.name as recovery,
    r.state_before,
    r.cause_before,
    r.ended_before,
    r.attempts_before,
    r.not_done
from jobs.occurrence_replays as r
left join jobs.people as p on r.person = p.id
left join jobs.recoveries as g on r.recovery = g.id
where r.tenant = %(tenant)s and r.occurrence = %(occurrence)s::uuid
order by r.replay desc
limit %(most)s
