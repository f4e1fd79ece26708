-- The job of a submission identity within its kind.
select
    j.id::text as id,
    j.status,
    j.inputs,
    j.inputs_digest,
    j.customer,
    j.workspace,
    j.plan::text as plan
from jobs.jobs as j
where
    j.family = %(family)s
    and j.tenant = %(tenant)s
    and j.kind = %(kind)s
    and j.submission_identity = %(identity)s
