-- A job that moves money, with what it is a retry of and the plan of the first job of its lineage.
select
    j.kind,
    j.carrier,
    j.submission_identity,
    j.inputs,
    j.plan::text as plan,
    j.recovery::text as recovery,
    j.retry_of::text as retry_of,
    f.plan::text as first_plan,
    f.submission_identity as first_identity,
    f.kind as first_kind,
    f.inputs as first_inputs,
    f.retry_of as first_retry_of
from jobs.jobs as j
inner join jobs.jobs as f on j.family = f.family and j.lineage = f.id and j.tenant = f.tenant
where j.family = %(family)s and j.tenant = %(tenant)s and j.id = %(job)s::uuid
