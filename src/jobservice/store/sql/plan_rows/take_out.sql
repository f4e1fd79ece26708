-- Takes items out of an open plan: their rows and what was odd about them go, the plan's claim on them is given back,
-- and they are kept as left out. How many there were. Checks of foreign keys are planned once, as in take.sql.
with taken as (
    delete from jobs.plan_items as p
    where
        p.plan = %(plan)s::uuid
        and p.tenant = %(tenant)s
        and p.item = any(%(items)s::uuid[])
    returning p.*
),

freed as (
    update jobs.items as i
    set
        holder = null,
        taken_at = null,
        expires_at = null,
        plan = null,
        plan_name = null,
        row_version = i.row_version + 1
    from taken as t
    inner join jobs.plans as p on t.plan = p.id
    where
        i.id = t.item
        and i.plan = %(plan)s::uuid
        and i.holder = p.owner
        and i.fence = t.fence
        and not i.held
),

left_out as (
    insert into jobs.plan_exclusions (
        plan, item, tenant, reason, who, sentence, title, amount_minor, currency, payee_id, payee_name, account
    )
    select
        t.plan,
        t.item,
        t.tenant,
        'taken-out' as reason,
        p.owner,
        format('%%s took it out.', coalesce(o.name, p.owner)) as sentence,
        t.title,
        t.amount_minor,
        t.currency,
        t.payee_id,
        t.payee_name,
        t.account
    from taken as t
    inner join jobs.plans as p on t.plan = p.id
    left join jobs.people as o on p.owner = o.id
)

select
    count(*) as taken,
    set_config('plan_cache_mode', 'auto', true) as plans
from taken
