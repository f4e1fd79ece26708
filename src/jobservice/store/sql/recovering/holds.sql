-- Whether a row of a recovery that moves money runs this occurrence.
select w.number
from jobs.recovery_rows as w
where
    w.tenant = %(tenant)s
    and w.recovery = %(recovery)s::uuid
    and w.moves = 'money'
    and w.turn in ('not-started', 'running')
    and (w.occurrence = %(occurrence)s::uuid or w.key = %(occurrence)s::text)
