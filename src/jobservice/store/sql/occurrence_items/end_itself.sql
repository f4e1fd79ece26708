-- Writes the one item of a run that is its own item, with how it ended, under the occurrence's lease alone: its row
-- comes with its outcome, so that a small run is one statement.
insert into jobs.occurrence_items (
    occurrence, key, tenant, number, label, outcome, attempts, sentence, fence, try_at, ended_at
)
select
    o.id,
    %(key)s,
    o.tenant,
    1 as number,
    %(label)s,
    %(outcome)s,
    1 as attempts,
    %(sentence)s,
    %(held_fence)s,
    jobs.now() + make_interval(secs => %(after)s) as try_at,
    case when %(outcome)s::text is not null then jobs.now() end as ended_at
from jobs.occurrences as o
where
    o.id = %(occurrence)s
    and o.tenant = %(tenant)s
    and o.state = 'processing'
    and o.holder = %(holder)s
    and o.fence = %(held_fence)s
    and o.expires_at > jobs.now()
on conflict (occurrence, key) do update
    set
        outcome = excluded.outcome,
        attempts = occurrence_items.attempts + 1,
        sentence = excluded.sentence,
        fence = excluded.fence,
        try_at = excluded.try_at,
        ended_at = excluded.ended_at
    where occurrence_items.outcome is null
