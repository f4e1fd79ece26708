-- The kinds that a tenant has jobs of.
select distinct k.kind
from jobs.kinds_of(%(tenant)s) as k
order by k.kind
