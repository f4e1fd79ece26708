-- Recoveries that ended before an instant and of which nothing changes any more.
select
    r.id,
    r.tenant,
    r.count
from jobs.recoveries as r
where
    r.ended_at is not null
    and r.ended_at < %(past)s
    and r.state in ('done', 'aborted', 'dropped', 'expired')
    and (r.confirmed_at is null or r.over_at is not null)
    and not exists (
        select 1
        from jobs.recovery_rows as w
        where w.turn = 'running' and w.recovery = r.id
    )
order by r.ended_at, r.id
limit %(most)s
