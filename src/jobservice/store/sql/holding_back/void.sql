-- Ends a locked plan that was not confirmed; nobody did it, something happened to its owner.
update jobs.plans
set
    state = 'voided',
    ended_at = jobs.now(),
    ended_by = null,
    reason = %(reason)s,
    version = version + 1
where tenant = %(tenant)s and id = %(plan)s::uuid and state = 'open'
returning version
