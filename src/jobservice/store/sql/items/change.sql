-- Writes new content over a locked item; a claim on it stays.
update jobs.items
set
    title = %(title)s,
    amount_minor = %(amount_minor)s,
    currency = %(currency)s,
    payee_id = %(payee_id)s,
    payee_name = %(payee_name)s,
    account = %(account)s,
    inputs = %(inputs)s,
    payload = %(payload)s,
    money_version = money_version + %(raised)s,
    row_version = row_version + 1,
    changed_by = %(changer)s,
    changed_at = jobs.now()
where
    id = %(item)s::uuid
    and tenant = %(tenant)s
    and money_version = %(money_version)s
    and holder is not distinct from %(holder)s
    and fence = %(fence)s
returning row_version
