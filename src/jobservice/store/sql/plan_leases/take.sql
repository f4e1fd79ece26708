-- Leases plans that want work and that nobody has, the longest confirmed first: those to apply, where their tenant's
-- money moves and nobody stopped their command; those that ended and whose account is open; those that a Worker left
-- without giving them back.
with wanted as (
    select p.id
    from jobs.plans as p
    where
        p.confirmed_at is not null
        and p.accounted_at is null
        and (p.expires_at is null or p.expires_at <= (select jobs.now()))
        and (
            p.holder is not null
            or p.state in ('done', 'aborted', 'lapsed')
            or (
                (p.state = 'applying' or (p.state = 'armed' and p.armed_until <= (select jobs.now())))
                and p.apply_until > (select jobs.now())
                and exists (
                    select 1
                    from jobs.money_switches as s
                    where s.tenant = p.tenant and not s.stopped
                )
                and not jobs.stopped(p.tenant, 'bulk-command', p.command)
            )
        )
    order by p.made_at, p.id
    limit %(most)s
    for update skip locked
)

update jobs.plans as p
set
    holder = %(holder)s,
    expires_at = jobs.now() + make_interval(secs => %(lease)s),
    fence = p.fence + 1,
    state = case when p.state = 'armed' and p.armed_until <= jobs.now() then 'applying' else p.state end,
    started_at = case
        when p.state in ('armed', 'applying') then coalesce(p.started_at, jobs.now())
        else p.started_at
    end,
    version = p.version + 1
from wanted as w
where p.id = w.id and (p.expires_at is null or p.expires_at <= jobs.now())
returning p.id, p.tenant, p.fence
