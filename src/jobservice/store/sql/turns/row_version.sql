-- The version of an item's row, for the hint that it changed.
select i.row_version
from jobs.items as i
where i.tenant = %(tenant)s and i.id = %(item)s::uuid
