-- One job of a source, of one tenant and within reach.
select *
from cross_job_query
where
    tenant = %(tenant)s
    and job = %(job)s
    and (%(customers)s::text[] is null or customer = any(%(customers)s::text[]))
    and (%(workspaces)s::text[] is null or workspace = any(%(workspaces)s::text[]))
