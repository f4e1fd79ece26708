-- A confirmed recovery as its digest has it, with its signature. No row where it was not confirmed.
select
    r.id::text as id,
    r.tenant,
    r.owner,
    r.act,
    r.reason,
    r.frozen_at,
    r.disable_until,
    r.count,
    r.money,
    r.digest,
    r.signing_key,
    r.signature
from jobs.recoveries as r
where
    r.tenant = %(tenant)s
    and r.id = %(recovery)s::uuid
    and r.confirmed_at is not null
    and r.moves = 'money'
    and r.signature is not null
