-- What one person is, tenant by tenant.
select
    tenant,
    role,
    customers,
    workspaces
from jobs.memberships
where person = %(person)s
order by tenant
