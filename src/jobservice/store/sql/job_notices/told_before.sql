-- Notices of other outcomes of a job than the one that it has, locked: what its requester was told, or is to be.
select
    n.id,
    n.outcome,
    n.state
from jobs.job_notices as n
where n.job = %(job)s::uuid and n.tenant = %(tenant)s and n.outcome <> %(outcome)s
order by n.made_at, n.id
for update
