-- What Workers counted last, over all tenants.
select
    f.name,
    f.value
from jobs.figures as f
order by f.name
