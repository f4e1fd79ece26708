-- The recoveries of a person that something may still begin of, in some tenants or in all, locked until the end of the
-- transaction in the order of ids.
select
    r.id::text as id,
    r.tenant
from jobs.recoveries as r
where
    r.owner = %(person)s
    and r.state in ('open', 'applying')
    and (%(tenants)s::text[] is null or r.tenant = any(%(tenants)s::text[]))
order by r.id
for update
