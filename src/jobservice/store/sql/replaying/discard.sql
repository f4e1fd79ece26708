-- Puts a dead letter away, as it was read: it stays to be read, and counts no more.
update jobs.occurrences as o
set
    discarded_at = jobs.now(),
    discarded_by = %(person)s,
    discard_reason = %(reason)s,
    version = o.version + 1
where
    o.tenant = %(tenant)s
    and o.id = %(occurrence)s::uuid
    and o.state = 'dead-letter'
    and o.discarded_at is null
    and o.version = %(version)s
    and not exists (
        select 1
        from jobs.schedules as s
        where s.tenant = o.tenant and s.schedule = o.schedule and s.floor_at >= o.scheduled_at
    )
returning o.version
