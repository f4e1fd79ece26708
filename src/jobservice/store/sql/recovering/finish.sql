-- Ends a locked recovery of which nothing runs: done where nothing is left to begin, and its account is kept. No row
-- where something runs, or waits for its turn.
with turns as materialized (
    select
        w.turn,
        count(*) as number
    from jobs.recovery_rows as w
    where w.tenant = %(tenant)s and w.recovery = %(recovery)s::uuid
    group by w.turn
),

summed as materialized (
    select
        coalesce(jsonb_object_agg(t.turn, t.number), '{}') as account,
        coalesce(bool_or(t.turn = 'running'), false) as running,
        coalesce(bool_or(t.turn = 'not-started'), false) as waiting
    from turns as t
)

update jobs.recoveries as r
set
    state = case when r.state = 'applying' then 'done' else r.state end,
    ended_at = coalesce(r.ended_at, jobs.now()),
    account = s.account,
    why = case when r.state = 'applying' then coalesce(r.why, %(why)s::text) else r.why end,
    over_at = jobs.now(),
    version = r.version + 1
from summed as s
where
    r.tenant = %(tenant)s
    and r.id = %(recovery)s::uuid
    and r.over_at is null
    and not s.running
    and (r.state = 'aborted' or (r.state = 'applying' and not s.waiting))
returning r.state, r.account, r.version
