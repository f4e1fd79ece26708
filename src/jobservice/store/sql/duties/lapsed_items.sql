-- Of the locked items, those whose claim has lapsed.
select
    id,
    queue,
    holder,
    fence,
    row_version
from jobs.items
where tenant = %(tenant)s and id = any(%(items)s) and holder is not null and expires_at <= jobs.now()
order by id
