-- Raises the plan's version, so that those who watch fetch how far it is; the instant in microseconds is for the hint
-- about its queue.
update jobs.plans as p
set version = p.version + 1
where p.tenant = %(tenant)s and p.id = %(plan)s::uuid and p.holder = %(holder)s and p.fence = %(plan_fence)s
returning p.version, p.queue, (extract(epoch from jobs.now()) * 1000000)::bigint as moment
