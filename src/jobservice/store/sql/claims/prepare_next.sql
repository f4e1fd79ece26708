-- What claim next has to know before it takes an item, under the locks on key and person: the answer first given
-- under the key, how many items the person holds, the stop that is in force; and it writes off some lapsed claims of
-- the queue within reach, the first ones of its order, for the best free item may be among them. Rows that others have
-- locked are left to them, so nothing here waits and then compares.
with lapsed as (
    select
        i.id,
        i.holder,
        i.fence,
        i.expires_at,
        i.plan
    from jobs.items as i
    where
        i.tenant = %(tenant)s
        and i.queue = %(queue)s
        and i.holder is not null
        and i.expires_at <= (select jobs.now())
        and jobs.in_reach(i, %(customers)s::text[], %(workspaces)s::text[])
    order by i.rank, i.created, i.id
    limit %(most)s
    for update of i skip locked
),

freed as (
    update jobs.items as i
    set
        holder = null,
        taken_at = null,
        expires_at = null,
        row_version = i.row_version + 1
    from lapsed as l
    where i.id = l.id and i.holder = l.holder and i.fence = l.fence
    returning i.id, i.tenant, i.queue, i.row_version, l.holder, l.fence, l.expires_at, l.plan
),

ended as (
    update jobs.claims as c
    set
        ended_at = f.expires_at,
        ending = 'lapsed'
    from freed as f
    where c.item = f.id and c.holder = f.holder and c.fence = f.fence and c.ended_at is null
),

audited as (
    insert into jobs.audit (tenant, action, subject, outcome, detail)
    select
        f.tenant,
        'claim-lapsed' as action,
        f.id::text as subject,
        'done' as outcome,
        jsonb_build_object('queue', f.queue, 'holder', f.holder, 'fence', f.fence) as detail
    from freed as f
    where f.plan is null -- of a plan's claims its own row tells, once
),

told as (
    insert into jobs.hints (tenant, topic, queue, ref, version)
    select
        f.tenant,
        'item' as topic,
        f.queue,
        f.id::text as ref,
        f.row_version
    from freed as f
)

select
    k.digest,
    k.status,
    k.answer,
    (
        select count(*)
        from jobs.items as i
        where
            i.tenant = %(tenant)s
            and i.holder = %(person)s
            and i.expires_at > (select jobs.now())
            and i.plan is null
    ) as live,
    (select count(pg_notify('jobs_hints', f.tenant)) from freed as f) as freed,
    jobs.now() as now,
    (
        select
            jsonb_build_object(
                'scope', s.scope,
                'name', s.name,
                'at', s.at,
                'by', s.by,
                'by_name', coalesce(p.name, s.by),
                'reason', s.reason,
                'version', s.version
            )
        from jobs.stops as s
        left join jobs.people as p on s.by = p.id
        where s.tenant = %(tenant)s and (s.scope = 'tenant' or (s.scope = 'queue' and s.name = %(queue)s))
        order by s.scope desc
        limit 1
    ) as stop,
    set_config('plan_cache_mode', 'force_custom_plan', true) as plans -- `pick_next` is planned for its values
from (select 1 as one) as always
left join jobs.idempotency_keys as k
    on
        k.tenant = %(tenant)s
        and k.person = %(person)s
        and k.method = %(method)s
        and k.path = %(path)s
        and k.key = %(key)s
