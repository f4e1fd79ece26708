-- Locks one item within reach, found by its id or by queue and business key; everything is compared in later
-- statements, after the wait (MONEY.md 30). `works`: it is to be claimed or acted on, so that whoever stops the work of
-- the tenant waits for this transaction to end (migration 0005); that lock comes before any row's.
with gate as materialized (
    select
        case
            when %(works)s then pg_advisory_xact_lock_shared(1836021370, hashtext(%(tenant)s))::text
        end as passed
)

select
    i.*,
    (
        select p.name
        from jobs.people as p
        where p.id = i.holder
    ) as holder_name
from gate
cross join jobs.items as i
where
    i.tenant = %(tenant)s
    and (
        case
            when %(item)s::uuid is not null then i.id = %(item)s::uuid
            else i.business_key = %(key)s::text and i.queue = %(queue)s::text
        end
    )
    and jobs.in_reach(i, %(customers)s::text[], %(workspaces)s::text[])
for update of i
