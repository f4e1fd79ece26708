-- Writes what an act leaves on its item, under the claim (or none) and the version that were read under the lock;
-- nothing where the queue is stopped.
update jobs.items
set
    state = %(state)s,
    set_aside_until = %(set_aside_until)s,
    closed_at = %(closed_at)s,
    placed_xid = case
        when
            state <> %(state)s
            or closed_at is distinct from %(closed_at)s
            or set_aside_until is distinct from %(set_aside_until)s
            then pg_current_xact_id()::text::bigint
        else placed_xid
    end,
    money_version = money_version + %(raised)s,
    row_version = row_version + 1,
    holder = case when %(ends_claim)s then null else holder end,
    taken_at = case when %(ends_claim)s then null else taken_at end,
    expires_at = case when %(ends_claim)s then null else expires_at end
where
    id = %(item)s::uuid
    and tenant = %(tenant)s
    and money_version = %(money_version)s
    and closed_at is null
    and holder is not distinct from %(holder)s
    and fence = %(fence)s
    and not jobs.stopped(tenant, 'queue', queue)
returning row_version
