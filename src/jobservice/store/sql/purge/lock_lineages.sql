-- Locks the jobs of lineages, but for those that somebody works on.
select j.id
from jobs.jobs as j
where j.family = %(family)s and j.lineage = any(%(lineages)s::uuid[])
order by j.id
for update skip locked
