-- Takes the notice that is due longest, for one attempt: should the Worker die over it, it is due again after a pause,
-- which doubles with each attempt.
with due as (
    select n.id
    from jobs.notices as n
    where n.sent_at is null and n.given_up_at is null and n.try_at <= (select jobs.now())
    order by n.try_at asc, n.id asc
    limit 1
    for update skip locked
)

update jobs.notices as n
set
    attempts = n.attempts + 1,
    try_at = jobs.now() + make_interval(secs => least(%(first)s * power(2, least(n.attempts, 30)), %(longest)s))
from due as d
where n.id = d.id
returning
    n.id,
    n.person,
    n.kind,
    n.subject,
    n.text,
    n.made_at,
    n.attempts,
    jobs.now() as now,
    (
        select p.contact
        from jobs.people as p
        where p.id = n.person
    ) as contact
