-- What of a recovery's rows goes through its digest, by number, at most so many behind one.
select
    w.number,
    w.key,
    w.target,
    w.name,
    w.moves,
    w.row_version,
    w.state,
    coalesce(w.refused + w.failed + w.unfinished, 0) as not_done
from jobs.recovery_rows as w
where w.tenant = %(tenant)s and w.recovery = %(recovery)s::uuid and w.number > %(after)s
order by w.number
limit %(most)s
