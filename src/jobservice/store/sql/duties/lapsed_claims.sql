-- Items whose claim lapsed, the longest ago first, of all tenants; the history's row tells, the item's row decides.
select
    c.tenant,
    c.item
from jobs.claims as c
where c.ended_at is null and c.expires_at <= (select jobs.now())
order by c.expires_at
limit %(batch)s
