-- Takes a claim off its item; the fence stays, so that the next grant raises it.
update jobs.items
set
    holder = null,
    taken_at = null,
    expires_at = null,
    row_version = row_version + 1
where
    id = %(item)s::uuid
    and tenant = %(tenant)s
    and holder = %(holder)s
    and fence = %(fence)s
returning fence, row_version
