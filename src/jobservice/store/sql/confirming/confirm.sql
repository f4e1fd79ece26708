-- Writes that a locked plan was confirmed, with the signature that the Worker checks at every item.
update jobs.plans
set
    state = %(state)s,
    confirmed_at = %(now)s,
    armed_until = %(armed_until)s,
    apply_until = %(apply_until)s,
    signing_key = %(signing_key)s,
    signature = %(signature)s,
    version = version + 1
where tenant = %(tenant)s and id = %(plan)s::uuid and state = 'open' and version = %(version)s
returning version
