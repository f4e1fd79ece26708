-- Locks a recovery, waiting for whoever has it. What is compared with it is read after the wait.
select
    r.id::text as id,
    r.tenant,
    r.name,
    r.act,
    r.reason,
    r.owner,
    coalesce(p.name, r.owner) as owner_name,
    r.state,
    r.edition,
    r.moves,
    r.disable_until,
    r.digest,
    r.money,
    r.left_out,
    r.count,
    r.frozen_at,
    r.valid_until,
    r.confirmed_at,
    r.at_once,
    r.account,
    r.drifted,
    r.signing_key,
    r.signature,
    r.version
from jobs.recoveries as r
left join jobs.people as p on r.owner = p.id
where r.tenant = %(tenant)s and r.id = %(recovery)s::uuid
for update of r
