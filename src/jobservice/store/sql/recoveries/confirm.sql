-- Confirms an open recovery whose row is locked, no row where it is not open any more.
update jobs.recoveries as r set
    state = 'applying',
    confirmed_at = %(now)s,
    account = jsonb_build_object('not-started', r.count),
    signing_key = %(signing_key)s,
    signature = %(signature)s,
    version = r.version + 1
where
    r.tenant = %(tenant)s
    and r.id = %(recovery)s::uuid
    and r.state = 'open'
    and r.valid_until > %(now)s
    and r.digest = %(digest)s
returning r.version
