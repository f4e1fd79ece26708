-- Locks one plan; everything is compared in later statements, after the wait (MONEY.md 30). `owner`: of that person
-- alone.
select
    p.id::text as id,
    p.name,
    p.command,
    p.queue,
    p.use_case,
    p.use_case_version,
    p.parameters,
    p.filter,
    p.owner,
    p.approved_by,
    p.state,
    p.edition,
    p.salt,
    p.digest,
    p.totals,
    p.count,
    p.frozen_at,
    p.valid_until,
    p.confirmed_at,
    p.armed_until,
    p.apply_until,
    p.started_at,
    p.version
from jobs.plans as p
where
    p.tenant = %(tenant)s
    and p.id = %(plan)s::uuid
    and (%(owner)s::text is null or p.owner = %(owner)s::text)
for update of p
