-- Keeps a hint and wakes the listeners of all API processes; the notification carries the tenant alone.
with added as (
    insert into jobs.hints (tenant, topic, queue, ref, version)
    values (%(tenant)s, %(topic)s, %(queue)s, %(ref)s, %(version)s)
    returning tenant
)

select pg_notify('jobs_hints', added.tenant)
from added
