-- Locks the first free item of a queue, in its order, of those that match; passes over what others are taking just now,
-- so it waits for nobody (partial index items_free). What comes after it in its transaction is planned once for all.
select
    i.id,
    i.holder,
    i.fence,
    set_config('plan_cache_mode', 'force_generic_plan', true) as plans
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
