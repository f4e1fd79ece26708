-- Plans of all tenants whose time is over, the longest ago first: open ones past their end, confirmed ones past their
-- window.
select
    p.id::text as id,
    p.tenant,
    p.state
from jobs.plans as p
where
    (p.state = 'open' and p.valid_until <= (select jobs.now()))
    or (p.state in ('armed', 'applying', 'paused') and p.apply_until <= (select jobs.now()))
order by p.made_at, p.id
limit %(most)s
