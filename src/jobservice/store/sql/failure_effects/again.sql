-- A locked job's failure effect asked to be tried again after so many seconds.
update jobs.jobs as j
set failure_effect_at = jobs.now() + make_interval(secs => %(seconds)s), version = j.version + 1
where
    j.family = %(family)s
    and j.id = %(job)s::uuid
    and j.tenant = %(tenant)s
    and j.failure_effect_state = 'due'
    and j.failure_effect_attempts = %(attempts)s
