-- Sets the tenant that row security reads, until the transaction ends; answers with the one before.
with before as (
    select coalesce(current_setting('jobs.tenant', true), '') as tenant
)

select
    b.tenant,
    set_config('jobs.tenant', %(tenant)s, true) as set_to
from before as b
