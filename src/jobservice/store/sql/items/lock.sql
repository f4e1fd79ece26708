-- Locks one item within reach, found by its id or by queue and business key; everything is compared in later
-- statements, after the wait (MONEY.md 30).
select
    i.*,
    (
        select p.name
        from jobs.people as p
        where p.id = i.holder
    ) as holder_name
from jobs.items as i
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
