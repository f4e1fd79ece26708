-- Writes that a locked plan was confirmed, with the signature that the Worker checks at every item;
-- nothing where its queue or command is stopped.
update jobs.plans
set
    state = %(state)s,
    confirmed_at = %(now)s,
    armed_until = %(armed_until)s,
    apply_until = %(apply_until)s,
    signing_key = %(signing_key)s,
    signature = %(signature)s,
    version = version + 1
where
    tenant = %(tenant)s
    and id = %(plan)s::uuid
    and state = 'open'
    and version = %(version)s
    and not jobs.stopped(tenant, 'queue', queue)
    and not jobs.stopped(tenant, 'bulk-command', command)
returning version
