"""Owns the statements that claim next is measured against: the least that a claim needs, and all its writes at once."""

from __future__ import annotations

BARE = """
update jobs.items
set
    holder = %(person)s,
    taken_at = jobs.now(),
    expires_at = jobs.now() + interval '1 hour',
    fence = fence + 1,
    row_version = row_version + 1
where id = (
    select i.id
    from jobs.items as i
    where i.tenant = %(tenant)s and i.queue = %(queue)s and i.closed_at is null and i.holder is null
    order by i.rank, i.created, i.id
    limit 1
    for update skip locked
)
returning id
"""

ONE_STATEMENT = """
with granted as (
    update jobs.items
    set
        holder = %(person)s,
        taken_at = jobs.now(),
        expires_at = jobs.now() + interval '1 hour',
        fence = fence + 1,
        row_version = row_version + 1
    where id = (
        select i.id
        from jobs.items as i
        where i.tenant = %(tenant)s and i.queue = %(queue)s and i.closed_at is null and i.holder is null
        order by i.rank, i.created, i.id
        limit 1
        for update skip locked
    )
    returning *
),

kept as (
    insert into jobs.claims (item, fence, tenant, queue, holder, taken_at, expires_at)
    select g.id, g.fence, g.tenant, g.queue, g.holder, g.taken_at, g.expires_at
    from granted as g
),

audited as (
    insert into jobs.audit (tenant, person, action, subject, outcome, detail, reference)
    select
        g.tenant, g.holder, 'claim', g.id::text, 'done',
        jsonb_build_object('queue', g.queue, 'holder', g.holder, 'fence', g.fence, 'expires_at', g.expires_at),
        'benchmark'
    from granted as g
),

told as (
    insert into jobs.hints (tenant, topic, queue, ref, version)
    select g.tenant, 'item', g.queue, g.id::text, g.row_version
    from granted as g
    returning tenant
),

answered as (
    insert into jobs.idempotency_keys (tenant, person, method, path, key, digest, status, answer, expires_at)
    select
        g.tenant, g.holder, 'POST', %(path)s, %(key)s, decode(repeat('00', 32), 'hex'), 200,
        jsonb_build_object('item', jobs.item_json(g, g.holder, jobs.now(), '{"GBP": 2}'::jsonb), 'as_of', jobs.now()),
        jobs.now() + interval '7 days'
    from granted as g
)

select g.id, pg_notify('jobs_hints', t.tenant)
from granted as g
cross join told as t
"""

CLAIMED = """
select count(*), count(distinct c.item)
from jobs.claims as c
where c.tenant in ('case', 'head', 'http')
"""
