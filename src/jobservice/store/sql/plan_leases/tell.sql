-- Raises the plan's version, so that those who watch fetch how far it is; the statement's transaction as a number for
-- the hint about its queue: a later one is larger.
update jobs.plans as p
set version = p.version + 1
where p.tenant = %(tenant)s and p.id = %(plan)s::uuid and p.holder = %(holder)s and p.fence = %(plan_fence)s
returning p.version, p.queue, pg_current_xact_id()::text::bigint as moment
