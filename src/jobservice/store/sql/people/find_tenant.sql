-- One tenant by its id.
select
    id,
    name
from jobs.tenants
where id = %(id)s
