-- Ids of the tenant's plans: live ones first, the newest first among them.
with clock as (
    select jobs.now() as now
)

select p.id::text as id
from jobs.plans as p
cross join clock as c
where
    p.tenant = %(tenant)s
    and (%(owner)s::text is null or p.owner = %(owner)s::text)
    and (
        not %(live)s
        or p.state in ('armed', 'applying', 'paused')
        or (p.state = 'open' and p.valid_until > c.now)
    )
order by
    p.state in ('armed', 'applying', 'paused') or (p.state = 'open' and p.valid_until > c.now) desc,
    p.made_at desc,
    p.id desc
limit %(most)s
