-- Locks an item of a run for its turn; no row where another transaction has it. `now` is the clock after that.
select
    i.outcome,
    i.attempts,
    jobs.now() as now
from jobs.occurrence_items as i
where i.occurrence = %(occurrence)s and i.tenant = %(tenant)s and i.key = %(key)s
for no key update skip locked
