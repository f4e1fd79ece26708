-- The live plans of a person, in some tenants or in all, locked until the end of the transaction in the order of ids.
select
    p.id::text as id,
    p.tenant,
    p.name,
    p.queue,
    p.state
from jobs.plans as p
where
    p.owner = %(person)s
    and p.state in ('open', 'armed', 'applying', 'paused')
    and (%(tenants)s::text[] is null or p.tenant = any(%(tenants)s::text[]))
order by p.id
for update
