-- Adds a recovery under a name that none of the tenant has or had, no row where this one is taken. Digest, counts and
-- instants are those of the freeze that follows in the same transaction: nobody ever sees these.
insert into jobs.recoveries (
    tenant, name, act, reason, asked, owner, moves, disable_until, digest, count, made_at, frozen_at, valid_until,
    at_once
)
values (
    %(tenant)s, %(name)s, %(act)s, %(reason)s, %(asked)s, %(owner)s, 'nothing', %(disable_until)s, sha256(''), 1,
    jobs.now(), jobs.now(), jobs.now(), %(at_once)s
)
on conflict (tenant, name) do nothing
returning id::text as id
