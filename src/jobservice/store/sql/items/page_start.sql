-- Where an item within reach stands, found by its id or its business key, and whether a listing holds it: what a page
-- that is to begin at it has to know.
select
    i.id::text as id,
    i.queue,
    i.created,
    i.state,
    i.closed_at is not null as closed,
    case when i.closed_at is null and i.set_aside_until > %(now)s then i.set_aside_until end as set_aside_until,
    case when %(currency)s::text is null then i.rank else i.amount_rank end as rank,
    (i.queue = %(queue)s and jobs.in_view(i, %(view)s, %(now)s)) as in_view,
    coalesce(jobs.matches(i, %(filter)s::jsonb, %(now)s), false) as matches,
    (%(currency)s::text is null or coalesce(i.currency, '') = %(currency)s::text) as sorted
from jobs.items as i
where
    i.tenant = %(tenant)s
    and (i.id = %(id)s::uuid or i.business_key = %(key)s)
    and jobs.in_reach(i, %(customers)s::text[], %(workspaces)s::text[])
order by i.id is distinct from %(id)s::uuid
limit 1
