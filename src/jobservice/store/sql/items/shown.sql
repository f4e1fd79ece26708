-- One item within reach as the JSON that goes over the wire, and what its detail adds.
with clock as (
    select jobs.now() as now
)

select
    json_build_object(
        'id', i.id,
        'queue', i.queue,
        'key', i.business_key,
        'title', i.title,
        'created', i.created,
        'state', case
            when i.closed_at is null and i.set_aside_until > c.now then 'set-aside' else i.state
        end,
        'set_aside_until', case when i.closed_at is null and i.set_aside_until > c.now then i.set_aside_until end,
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
    ) as item,
    i.payload,
    i.pushed_by,
    coalesce(q.name, i.pushed_by) as pushed_by_name,
    i.pushed_at,
    i.changed_at,
    case when i.expires_at > c.now then i.taken_at end as taken_at,
    c.now
from jobs.items as i
cross join clock as c
left join jobs.people as p on i.holder = p.id
left join jobs.people as q on i.pushed_by = q.id
where
    i.id = %(item)s::uuid
    and i.tenant = %(tenant)s
    and (%(customers)s::text[] is null or i.customer = any(%(customers)s::text[]))
    and (%(workspaces)s::text[] is null or i.workspace = any(%(workspaces)s::text[]))
