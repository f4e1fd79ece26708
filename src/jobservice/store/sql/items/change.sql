-- Writes new content over a locked item, with the score that it has now; a claim on it stays.
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
    words = %(words)s,
    rank = %(rank)s,
    placed_xid = case
        when
            rank <> %(rank)s
            or amount_minor is distinct from %(amount_minor)s
            or currency is distinct from %(currency)s
            or inputs <> %(inputs)s
            or words <> %(words)s
            then pg_current_xact_id()::text::bigint
        else placed_xid
    end,
    score = %(score)s,
    score_rule = %(score_rule)s,
    score_version = %(score_version)s,
    score_inputs = %(score_inputs)s,
    score_parts = %(score_parts)s,
    score_failure = %(score_failure)s,
    scored_at = %(scored_at)s,
    rescore_at = %(rescore_at)s,
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
