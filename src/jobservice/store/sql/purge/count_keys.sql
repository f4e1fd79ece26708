-- How many idempotency keys are past their time.
select count(*) as count
from jobs.idempotency_keys as k
where k.expires_at < jobs.now()
