-- Recoveries of all tenants that there is something to do about, the oldest first: open ones past their end, those that
-- are being applied, and others of which something still runs.
select
    r.tenant,
    r.id::text as id,
    r.state
from jobs.recoveries as r
where
    r.over_at is null
    and r.state in ('open', 'applying', 'paused', 'aborted')
    and case r.state
        when 'open' then r.valid_until <= (select jobs.now())
        when 'paused'
            then exists (
                select 1
                from jobs.recovery_rows as w
                where w.recovery = r.id and w.turn = 'running'
            )
        else true
    end
order by r.made_at, r.id
limit %(most)s
