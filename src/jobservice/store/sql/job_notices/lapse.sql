-- Ends claims that ran out: the Worker died over them. What became of that attempt nobody knows; it is due again.
with lapsed as (
    select
        n.id,
        n.holder
    from jobs.job_notices as n
    where n.state = 'claimed' and n.expires_at <= jobs.now()
    order by n.expires_at
    limit %(most)s
    for update skip locked
),

freed as (
    update jobs.job_notices as n
    set state = 'due', holder = null, expires_at = null, try_at = jobs.now(), result = %(result)s
    from lapsed as l
    where n.id = l.id
    returning n.id, n.tenant, n.attempts, l.holder
)

insert into jobs.job_notice_attempts (notice, attempt, tenant, holder, result)
select
    f.id,
    f.attempts,
    f.tenant,
    f.holder,
    %(result)s
from freed as f
