-- Writes how a claim ended, once.
update jobs.claims
set
    ended_at = %(at)s,
    ending = %(ending)s,
    ended_by = %(by)s,
    reason = %(reason)s
where
    item = %(item)s::uuid
    and tenant = %(tenant)s
    and holder = %(holder)s
    and fence = %(fence)s
    and ended_at is null
