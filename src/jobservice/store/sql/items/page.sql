-- One page of one view of a queue, oldest first, as the JSON that goes over the wire; each arm runs for its view alone
-- and walks a partial index of its own.
with page as (
    (
        select i.*
        from jobs.items as i
        where
            %(view)s = 'waiting'
            and i.tenant = %(tenant)s
            and i.queue = %(queue)s
            and i.closed_at is null
            and (i.set_aside_until is null or i.set_aside_until <= (select jobs.now()))
            and (%(customers)s::text[] is null or i.customer = any(%(customers)s::text[]))
            and (%(workspaces)s::text[] is null or i.workspace = any(%(workspaces)s::text[]))
            and (i.created, i.id) > (%(after_created)s::timestamptz, %(after_id)s::uuid)
        order by i.created, i.id
        limit %(most)s + 1
    )
    union all
    (
        select i.*
        from jobs.items as i
        where
            %(view)s = 'set-aside'
            and i.tenant = %(tenant)s
            and i.queue = %(queue)s
            and i.closed_at is null
            and i.set_aside_until > (select jobs.now())
            and (%(customers)s::text[] is null or i.customer = any(%(customers)s::text[]))
            and (%(workspaces)s::text[] is null or i.workspace = any(%(workspaces)s::text[]))
            and (i.created, i.id) > (%(after_created)s::timestamptz, %(after_id)s::uuid)
        order by i.created, i.id
        limit %(most)s + 1
    )
    union all
    (
        select i.*
        from jobs.items as i
        where
            %(view)s = 'closed'
            and i.tenant = %(tenant)s
            and i.queue = %(queue)s
            and i.closed_at is not null
            and (%(customers)s::text[] is null or i.customer = any(%(customers)s::text[]))
            and (%(workspaces)s::text[] is null or i.workspace = any(%(workspaces)s::text[]))
            and (i.created, i.id) > (%(after_created)s::timestamptz, %(after_id)s::uuid)
        order by i.created, i.id
        limit %(most)s + 1
    )
),

numbered as (
    select
        page.*,
        row_number() over (order by page.created, page.id) as place
    from page
),

clock as (
    select jobs.now() as now
)

select
    coalesce(
        json_agg(
            json_build_object(
                'id', i.id,
                'queue', i.queue,
                'key', i.business_key,
                'title', i.title,
                'created', i.created,
                'state', case
                    when i.closed_at is null and i.set_aside_until > c.now then 'set-aside' else i.state
                end,
                'set_aside_until', case
                    when i.closed_at is null and i.set_aside_until > c.now then i.set_aside_until
                end,
                'amount', case when i.amount_minor is not null then json_build_object(
                    'minor', i.amount_minor,
                    'currency', i.currency,
                    'exponent', (%(exponents)s::jsonb -> i.currency)
                ) end,
                'payee', case when i.payee_id is not null then json_build_object(
                    'id', i.payee_id,
                    'name', i.payee_name,
                    'account_last4', right(i.account, 4)
                ) end,
                'inputs', i.inputs,
                'money_version', i.money_version,
                'holder', case when i.expires_at > c.now then json_build_object(
                    'id', i.holder,
                    'name', coalesce(p.name, i.holder)
                ) end,
                'expires_at', case when i.expires_at > c.now then i.expires_at end,
                'fence', i.fence
            )
            order by i.place
        ) filter (where i.place <= %(most)s),
        '[]'::json
    )::text as items,
    coalesce(max(i.place) > %(most)s, false) as more,
    max(i.created) filter (where i.place = %(most)s) as last_created,
    max(i.id::text) filter (where i.place = %(most)s) as last_id,
    max(c.now) as as_of
from clock as c
left join numbered as i on true
left join jobs.people as p on i.holder = p.id
