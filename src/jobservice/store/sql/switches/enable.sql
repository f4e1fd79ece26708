-- Switches a schedule on, as it was read; the planner looks at it at once.
update jobs.schedules as s
set
    disabled_at = null,
    disabled_until = null,
    disabled_by = null,
    disabled_reason = null,
    switched = s.switched + 1,
    version = s.version + 1
where s.tenant = %(tenant)s and s.schedule = %(schedule)s and s.retired_at is null and s.version = %(version)s
returning s.version
