-- Locks one item within reach; everything is compared in later statements, after the wait (MONEY.md 30).
select
    i.id,
    i.queue,
    i.business_key,
    i.title,
    i.created,
    i.state,
    i.closed_at,
    i.set_aside_until,
    i.amount_minor,
    i.currency,
    i.payee_id,
    i.payee_name,
    i.account,
    i.customer,
    i.workspace,
    i.inputs,
    i.payload,
    i.money_version,
    i.row_version,
    i.holder,
    i.taken_at,
    i.expires_at,
    i.fence,
    (
        select p.name
        from jobs.people as p
        where p.id = i.holder
    ) as holder_name
from jobs.items as i
where
    i.id = %(item)s::uuid
    and i.tenant = %(tenant)s
    and (%(customers)s::text[] is null or i.customer = any(%(customers)s::text[]))
    and (%(workspaces)s::text[] is null or i.workspace = any(%(workspaces)s::text[]))
for update of i
