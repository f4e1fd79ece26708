-- What a plan is, besides its rows, for the Worker that holds it.
select
    p.id::text as id,
    p.name,
    p.command,
    p.queue,
    p.use_case,
    p.use_case_version,
    p.parameters,
    p.owner,
    p.state,
    p.salt,
    p.digest,
    p.count,
    p.frozen_at,
    p.apply_until,
    p.signing_key,
    p.signature,
    jobs.now() as now
from jobs.plans as p
where p.tenant = %(tenant)s and p.id = %(plan)s::uuid and p.holder = %(holder)s and p.fence = %(plan_fence)s
