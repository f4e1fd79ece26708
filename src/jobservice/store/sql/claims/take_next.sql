-- Writes a claim on a picked item: claim, history, trail, hint, and the answer under its key; nothing where the
-- queue is stopped.
with clock as (
    select jobs.now() as now
),

granted as (
    update jobs.items as i
    set
        holder = %(person)s::text,
        taken_at = c.now,
        expires_at = c.now + make_interval(secs => %(lease)s),
        fence = i.fence + 1,
        row_version = i.row_version + 1
    from clock as c
    where
        i.id = %(item)s::uuid
        and i.holder is not distinct from %(holder)s::text
        and i.fence = %(fence)s::bigint
        and not jobs.stopped(i.tenant, 'queue', i.queue)
    returning i.*
),

kept as (
    insert into jobs.claims (item, fence, tenant, queue, holder, taken_at, expires_at)
    select
        g.id,
        g.fence,
        g.tenant,
        g.queue,
        g.holder,
        g.taken_at,
        g.expires_at
    from granted as g
),

audited as (
    insert into jobs.audit (tenant, person, action, subject, outcome, detail, reference)
    select
        g.tenant,
        g.holder as person,
        'claim' as action,
        g.id::text as subject,
        'done' as outcome,
        jsonb_build_object(
            'queue', g.queue, 'holder', g.holder, 'fence', g.fence, 'expires_at', g.expires_at
        ) as detail,
        %(reference)s
    from granted as g
),

told as (
    insert into jobs.hints (tenant, topic, queue, ref, version)
    select
        g.tenant,
        'item' as topic,
        g.queue,
        g.id::text as ref,
        g.row_version
    from granted as g
),

answered as (
    insert into jobs.idempotency_keys (tenant, person, method, path, key, digest, status, answer, expires_at)
    select
        g.tenant,
        g.holder as person,
        %(method)s,
        %(path)s,
        %(key)s,
        %(digest)s,
        200 as status,
        jsonb_build_object(
            'item', jobs.item_json(g, p.name, g.taken_at, %(exponents)s::jsonb),
            'capped_at', g.taken_at + make_interval(secs => %(total)s),
            'as_of', g.taken_at
        ) as answer,
        g.taken_at + make_interval(secs => %(keep)s) as expires_at
    from granted as g
    left join jobs.people as p on g.holder = p.id
    returning tenant, answer
)

select
    a.answer,
    pg_notify('jobs_hints', a.tenant) as notified
from answered as a
