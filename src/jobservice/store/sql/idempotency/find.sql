-- The first answer given under a key.
select
    k.digest,
    k.status,
    k.answer
from jobs.idempotency_keys as k
where
    k.tenant = %(tenant)s
    and k.person = %(person)s
    and k.method = %(method)s
    and k.path = %(path)s
    and k.key = %(key)s
