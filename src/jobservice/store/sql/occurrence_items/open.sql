-- The next items of a run without an outcome, in the order of their selection.
select
    i.key,
    i.number,
    i.label,
    i.given,
    i.attempts
from jobs.occurrence_items as i
where
    i.occurrence = %(occurrence)s
    and i.tenant = %(tenant)s
    and i.outcome is null
    and i.number > %(after)s
order by i.number
limit %(most)s
