-- Lets no further item of a locked plan begin; what holds its items goes on holding them.
update jobs.plans
set
    state = 'paused',
    ended_by = null,
    reason = %(reason)s,
    version = version + 1
where tenant = %(tenant)s and id = %(plan)s::uuid and state in ('armed', 'applying')
returning version
