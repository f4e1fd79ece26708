-- Which plans that are not over were confirmed under a signing key.
select
    tenant,
    name
from jobs.plans
where signing_key = %(key_id)s and state in ('armed', 'applying', 'paused')
order by tenant, name
