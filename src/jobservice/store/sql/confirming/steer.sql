-- Writes that a locked plan was paused, resumed or ended, by whom and why.
update jobs.plans
set
    state = %(state)s,
    ended_by = %(by)s,
    reason = %(reason)s,
    ended_at = %(ended_at)s,
    version = version + 1
where tenant = %(tenant)s and id = %(plan)s::uuid and state = %(was)s and version = %(version)s
returning version
