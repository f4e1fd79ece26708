-- Adds a plan under a name that no plan of the tenant has or had; no row where this one is taken. Digest, totals and
-- instants are those of the freeze that follows in the same transaction: nobody ever sees these.
insert into jobs.plans (
    tenant, name, command, queue, use_case, use_case_version, filter, owner, salt, digest, totals, count, payees,
    frozen_at, valid_until
)
values (
    %(tenant)s, %(name)s, %(command)s, %(queue)s, %(use_case)s, %(use_case_version)s, %(filter)s, %(owner)s,
    %(salt)s::bytea, sha256(''), '[]', 1, 0, jobs.now(), jobs.now()
)
on conflict (tenant, name) do nothing
returning id::text as id
