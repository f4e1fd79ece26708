-- Switches a schedule off, as it was read; one that is off stays so since then.
update jobs.schedules as s
set
    disabled_at = case when %(off)s then s.disabled_at else jobs.now() end,
    disabled_until = %(until)s::timestamptz,
    disabled_by = %(person)s,
    disabled_reason = %(reason)s,
    switched = s.switched + 1,
    version = s.version + 1
where s.tenant = %(tenant)s and s.schedule = %(schedule)s and s.retired_at is null and s.version = %(version)s
returning s.version
