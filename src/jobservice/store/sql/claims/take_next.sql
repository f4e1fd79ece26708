-- Claims the first free item of a queue, in its order, of those that match; passes over what others are taking just
-- now, so it waits for nobody (partial index items_free). Writes claim, history, trail and hint, and keeps the answer
-- under its key. No row where none is free.
with clock as (
    select jobs.now() as now
),

free as materialized (
    select
        i.id,
        i.holder,
        i.fence
    from jobs.items as i
    where
        i.tenant = %(tenant)s
        and i.queue = %(queue)s
        and i.closed_at is null
        and i.holder is null
        and (i.set_aside_until is null or i.set_aside_until <= %(now)s)
        and jobs.in_reach(i, %(customers)s::text[], %(workspaces)s::text[])
        and jobs.matches(i, %(filter)s::jsonb, %(now)s)
        and (%(currency)s::text is null or i.currency = %(currency)s::text)
    order by case when %(currency)s::text is null then i.rank else i.amount_rank end, i.created, i.id
    limit 1
    for update of i skip locked
),

granted as (
    update jobs.items as i
    set
        holder = %(person)s,
        taken_at = c.now,
        expires_at = c.now + make_interval(secs => %(lease)s),
        fence = i.fence + 1,
        row_version = i.row_version + 1
    from free as f
    cross join clock as c
    -- by its id alone, however few free items the statistics know of: a partial index must not come into question
    where i.id = f.id and i.holder is not distinct from f.holder and i.fence = f.fence
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
