-- Keeps the answer beside the work it belongs to.
insert into jobs.idempotency_keys (tenant, person, method, path, key, digest, status, answer, expires_at)
values (
    %(tenant)s, %(person)s, %(method)s, %(path)s, %(key)s, %(digest)s, %(status)s, %(answer)s,
    jobs.now() + make_interval(secs => %(seconds)s)
)
