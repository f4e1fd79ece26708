-- Plans with everything but their rows, in the order in which they are named. What is frozen (totals, largest,
-- exclusions) was counted when it was; warnings and turns are counted now.
with clock as (
    select jobs.now() as now
),

asked as (
    select
        a.plan,
        a.place
    from unnest(%(plans)s::uuid[]) with ordinality as a (plan, place)
),

warned as (
    select
        w.plan,
        count(*) as warnings,
        count(*) filter (where w.must_answer and w.answer is null) as to_answer
    from jobs.plan_warnings as w
    where w.tenant = %(tenant)s and w.plan = any(%(plans)s::uuid[])
    group by w.plan
),

turns as (
    select
        i.plan,
        i.turn,
        i.currency,
        count(*) as items,
        coalesce(sum(i.amount_minor) filter (where i.amount_minor >= 0), 0) as out_minor,
        count(*) filter (where i.amount_minor >= 0) as out_count,
        coalesce(-sum(i.amount_minor) filter (where i.amount_minor < 0), 0) as back_minor,
        count(*) filter (where i.amount_minor < 0) as back_count
    from jobs.plans as p
    inner join jobs.plan_items as i on p.id = i.plan
    where p.tenant = %(tenant)s and p.id = any(%(plans)s::uuid[]) and p.confirmed_at is not null
    group by i.plan, i.turn, i.currency
),

accounts as (
    select
        t.plan,
        t.turn,
        sum(t.items)::bigint as items,
        jsonb_agg(
            jsonb_build_object(
                'currency', t.currency,
                'exponent', %(exponents)s::jsonb -> t.currency,
                'out_minor', t.out_minor,
                'out_count', t.out_count,
                'back_minor', t.back_minor,
                'back_count', t.back_count,
                'net_minor', t.out_minor - t.back_minor
            )
            order by t.currency
        ) as totals
    from turns as t
    group by t.plan, t.turn
)

select
    p.id::text as id,
    p.name,
    p.command,
    p.queue,
    p.use_case,
    p.use_case_version,
    p.parameters,
    p.filter,
    p.tenant,
    p.owner,
    p.approved_by,
    p.edition,
    p.frozen_at,
    p.valid_until as expires_at,
    p.confirmed_at,
    p.armed_until,
    p.apply_until,
    p.started_at,
    p.reason,
    p.ended_by,
    p.count,
    p.payees,
    p.totals,
    p.largest,
    p.excluded,
    p.version,
    case when p.state = 'open' and p.valid_until <= c.now then 'expired' else p.state end as state,
    case when p.state = 'open' and p.valid_until <= c.now then p.valid_until else p.ended_at end as ended_at,
    coalesce(o.name, p.owner) as owner_name,
    coalesce(v.name, p.approved_by) as approved_by_name,
    coalesce(e.name, p.ended_by) as ended_by_name,
    coalesce(w.warnings, 0) as warnings,
    coalesce(w.to_answer, 0) as to_answer,
    coalesce(
        (
            select jsonb_agg(jsonb_build_object('turn', t.turn, 'count', t.items, 'totals', t.totals))
            from accounts as t
            where t.plan = p.id
        ),
        '[]'::jsonb
    ) as account,
    c.now as as_of
from asked as a
inner join jobs.plans as p on a.plan = p.id
cross join clock as c
left join jobs.people as o on p.owner = o.id
left join jobs.people as v on p.approved_by = v.id
left join jobs.people as e on p.ended_by = e.id
left join warned as w on p.id = w.plan
where p.tenant = %(tenant)s and (%(owner)s::text is null or p.owner = %(owner)s::text)
order by a.place
