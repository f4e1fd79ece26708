-- Ends a confirmed plan, whose row is locked, at the end of its window.
update jobs.plans as p
set
    state = 'lapsed',
    ended_at = jobs.now(),
    ended_by = null,
    reason = 'Its time to apply was over before every item had its turn.',
    version = p.version + 1
where
    p.tenant = %(tenant)s
    and p.id = %(plan)s::uuid
    and p.state in ('armed', 'applying', 'paused')
    and p.apply_until <= jobs.now()
returning p.version, p.queue, p.owner, (extract(epoch from jobs.now()) * 1000000)::bigint as moment
