-- A page of a recovery's rows by number, with one more than asked for where there is more.
select
    w.number,
    w.key,
    w.target,
    w.name,
    w.schedule,
    w.moves,
    w.scheduled_at,
    w.state,
    w.cause,
    w.error,
    w.done,
    w.refused,
    w.failed,
    w.unfinished,
    w.selected_all,
    w.row_version,
    w.turn,
    w.sentence,
    w.started_at,
    w.ended_at,
    w.made::text as made
from jobs.recovery_rows as w
where
    w.tenant = %(tenant)s
    and w.recovery = %(recovery)s::uuid
    and w.number > %(after)s
    and (%(turn)s::text is null or w.turn = %(turn)s)
order by w.number
limit %(most)s + 1
