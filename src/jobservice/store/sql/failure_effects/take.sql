-- Takes the failure effect that is due longest, for one attempt that counts from now on: should the Worker die over it,
-- it is due again after a pause, which doubles with each attempt.
with due as (
    select
        j.family,
        j.id
    from jobs.jobs as j
    where j.failure_effect_state = 'due' and j.failure_effect_at <= (select jobs.now())
    order by j.failure_effect_at asc, j.id asc
    limit 1
    for update skip locked
)

update jobs.jobs as j
set
    failure_effect_attempts = j.failure_effect_attempts + 1,
    failure_effect_at = jobs.now()
    + make_interval(secs => least(%(first)s * power(2, least(j.failure_effect_attempts, 30)), %(longest)s)),
    version = j.version + 1
from due as d
where j.family = d.family and j.id = d.id
returning
    j.family,
    j.id::text as job,
    j.tenant,
    j.failure_effect_attempts as attempts
