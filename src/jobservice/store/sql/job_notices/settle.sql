-- Writes how an attempt at a notice ended, where the claim is still this one; with the attempt's own row.
with settled as (
    update jobs.job_notices as n
    set
        state = %(state)s,
        holder = null,
        expires_at = null,
        result = %(result)s,
        reason = %(reason)s,
        try_at = case
            when %(state)s = 'due' then jobs.now() + make_interval(secs => %(pause)s)
            else n.try_at
        end,
        delivered_at = case when %(state)s = 'delivered' then jobs.now() end,
        ended_at = case when %(state)s <> 'due' then jobs.now() end
    where n.id = %(id)s and n.state = 'claimed' and n.holder = %(holder)s and n.fence = %(fence)s
    returning n.id, n.tenant, n.attempts
)

insert into jobs.job_notice_attempts (notice, attempt, tenant, holder, result)
select
    s.id,
    s.attempts,
    s.tenant,
    %(holder)s,
    %(result)s
from settled as s
