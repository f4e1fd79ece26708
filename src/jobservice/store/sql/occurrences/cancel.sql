-- Asks that an occurrence be cancelled; a Worker ends it. No row where it has ended, or was asked before.
update jobs.occurrences as o set
    cancel_asked_at = jobs.now(),
    cancelled_by = %(person)s,
    cancel_reason = %(reason)s,
    version = o.version + 1
where
    o.tenant = %(tenant)s
    and o.id = %(occurrence)s::uuid
    and o.state in ('scheduled', 'processing')
    and o.cancel_asked_at is null
returning o.version
