-- The family of a job of the tenant, where it is in reach: a job without customer and workspace is seen by people
-- without narrowing alone.
select
    j.family,
    j.kind
from jobs.jobs as j
where
    j.id = %(job)s::uuid
    and j.tenant = %(tenant)s
    and (%(customers)s::text[] is null or j.customer = any(%(customers)s::text[]))
    and (%(workspaces)s::text[] is null or j.workspace = any(%(workspaces)s::text[]))
