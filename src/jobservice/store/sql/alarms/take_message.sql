-- Takes the message about an alarm that is due longest, for one attempt: should the Worker die over it, it is due again
-- after a pause, which doubles with each attempt.
with due as (
    select a.id
    from jobs.alarms as a
    where a.told = 'waiting' and a.tell_at <= (select jobs.now())
    order by a.tell_at, a.id
    limit 1
    for update skip locked
)

update jobs.alarms as a
set
    tries = a.tries + 1,
    tell_at = jobs.now() + make_interval(secs => least(%(first)s * power(2, least(a.tries, 30)), %(longest)s))
from due as d
where a.id = d.id
returning
    a.id::text as id,
    a.tenant,
    a.kind,
    a.subject,
    a.schedule,
    a.sentence,
    a.count,
    a.opened_at,
    a.acknowledged_at,
    a.cleared_at,
    a.telling,
    a.tries,
    jobs.now() as now
