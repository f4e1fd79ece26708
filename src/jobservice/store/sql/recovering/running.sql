-- What became of the rows of a recovery that run, each locked: how the occurrence stands, and how it had ended before
-- somebody replayed it once more.
select
    w.key,
    w.schedule,
    o.id is not null as there,
    coalesce(n.state_before, o.state) as state,
    coalesce(n.cause_before, o.cause) as cause,
    case when n.replay is null then o.error end as error,
    coalesce(n.ended_before, o.ended_at) as ended_at
from jobs.recovery_rows as w
left join jobs.occurrences as o on w.occurrence = o.id and o.tenant = %(tenant)s
left join lateral (
    select max(p.replay) as replay
    from jobs.occurrence_replays as p
    where p.occurrence = w.occurrence and p.recovery = w.recovery
) as m on true
left join jobs.occurrence_replays as n on w.occurrence = n.occurrence and coalesce(m.replay, 0) + 1 = n.replay
where w.tenant = %(tenant)s and w.recovery = %(recovery)s::uuid and w.turn = 'running'
order by w.number
for update of w
