-- First jobs of lineages of a family that were submitted before an instant (ids rise with time), from behind one on.
select j.id
from jobs.jobs as j
where j.family = %(family)s and j.id > %(after)s and j.id < %(until)s and j.retry_of is null
order by j.id
limit %(most)s
