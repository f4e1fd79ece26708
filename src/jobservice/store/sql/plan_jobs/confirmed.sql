-- A plan as its confirmation signed it, for whoever has no lease on it: no row where it was never confirmed.
select
    p.id::text as id,
    p.name,
    p.command,
    p.use_case,
    p.use_case_version,
    p.parameters,
    p.owner,
    p.state,
    p.salt,
    p.digest,
    p.count,
    p.frozen_at,
    p.signing_key,
    p.signature,
    p.accounted_at
from jobs.plans as p
where p.tenant = %(tenant)s and p.id = %(plan)s::uuid and p.confirmed_at is not null
