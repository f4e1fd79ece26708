-- One row of a recovery: what of it goes through the digest (as `hashed`), what it acts on, and its turn.
select
    w.number,
    w.key,
    w.target,
    w.name,
    w.moves,
    w.row_version,
    w.state,
    coalesce(w.refused + w.failed + w.unfinished, 0) as not_done,
    w.schedule,
    w.scheduled_at,
    w.occurrence,
    w.job,
    w.turn
from jobs.recovery_rows as w
where w.tenant = %(tenant)s and w.recovery = %(recovery)s::uuid and w.key = %(key)s
