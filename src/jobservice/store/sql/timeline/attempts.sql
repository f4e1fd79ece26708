-- Attempts that ended without completing, of those endings that are asked for; the one that a dead letter
-- tells of is not told twice.
select
    t.ended_at as at,
    t.occurrence::text || '/' || t.fence::text as key,
    o.schedule,
    o.scheduled_at,
    t.attempt,
    t.ending,
    t.error,
    t.fence,
    w.host,
    t.worker::text as worker
from jobs.occurrence_attempts as t
inner join jobs.occurrences as o on t.occurrence = o.id
left join jobs.workers as w on t.worker = w.incarnation
where
    t.tenant = %(tenant)s
    and t.ending <> 'completed'
    and t.ending = any(%(endings)s::text[])
    and (t.ending in ('lost', 'handed-back') or o.state <> 'dead-letter' or o.fence <> t.fence)
    and t.ended_at >= %(begin)s::timestamptz
    and t.ended_at < %(until)s::timestamptz
    and (
        %(mark)s::text is null
        or t.ended_at > %(begin)s::timestamptz
        or t.occurrence::text || '/' || t.fence::text > %(mark)s::text
    )
order by t.ended_at, t.occurrence::text || '/' || t.fence::text
limit %(most)s + 1
