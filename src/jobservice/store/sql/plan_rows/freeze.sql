-- Freezes a plan as its rows are now: count, totals, payees, largest, exclusions, and the digest over all of it
-- (`jobcontract.plan_digest`, byte for byte). Currencies and names of parameters in the order of their bytes.
with frozen as (
    select i.*
    from jobs.plan_items as i
    where i.plan = %(plan)s::uuid and i.tenant = %(tenant)s
),

sums as (
    select
        f.currency,
        %(exponents)s::jsonb ->> f.currency as exponent,
        coalesce(sum(f.amount_minor) filter (where f.amount_minor >= 0), 0) as out_minor,
        count(*) filter (where f.amount_minor >= 0) as out_count,
        coalesce(-sum(f.amount_minor) filter (where f.amount_minor < 0), 0) as back_minor,
        count(*) filter (where f.amount_minor < 0) as back_count
    from frozen as f
    group by f.currency
),

totals as (
    select
        count(*) as currencies,
        jsonb_agg(
            jsonb_build_object(
                'currency', s.currency,
                'exponent', s.exponent::integer,
                'out_minor', s.out_minor,
                'out_count', s.out_count,
                'back_minor', s.back_minor,
                'back_count', s.back_count,
                'net_minor', s.out_minor - s.back_minor
            )
            order by convert_to(s.currency, 'UTF8')
        ) as totals,
        string_agg(
            concat(
                jobs.prefixed(s.currency),
                jobs.prefixed(s.exponent),
                jobs.prefixed(s.out_minor::text),
                jobs.prefixed(s.out_count::text),
                jobs.prefixed(s.back_minor::text),
                jobs.prefixed(s.back_count::text)
            ),
            ''
            order by convert_to(s.currency, 'UTF8')
        ) as texts
    from sums as s
),

largest as (
    select
        coalesce(
            jsonb_agg(
                jsonb_build_object(
                    'amount',
                    jsonb_build_object(
                        'minor', l.amount_minor,
                        'currency', l.currency,
                        'exponent', %(exponents)s::jsonb -> l.currency
                    ),
                    'payee',
                    jsonb_build_object('id', l.payee_id, 'name', l.payee_name, 'account_last4', right(l.account, 4)),
                    'number', l.number
                )
                order by convert_to(l.currency, 'UTF8')
            ),
            '[]'::jsonb
        ) as largest
    from (
        select distinct on (f.currency) f.*
        from frozen as f
        where f.amount_minor > 0
        order by f.currency asc, f.amount_minor desc, f.number asc
    ) as l
),

left_out as (
    select coalesce(jsonb_agg(jsonb_build_object('reason', r.reason, 'count', r.items)), '[]'::jsonb) as excluded
    from (
        select
            e.reason,
            count(*) as items
        from jobs.plan_exclusions as e
        where e.plan = %(plan)s::uuid and e.tenant = %(tenant)s
        group by e.reason
    ) as r
),

parameters as (
    select
        count(*) as names,
        string_agg(jobs.prefixed(e.key) || jobs.prefixed(e.value), '' order by convert_to(e.key, 'UTF8')) as texts
    from jobs.plans as p
    cross join jsonb_each_text(p.parameters) as e
    where p.id = %(plan)s::uuid
),

bodies as (
    select
        count(*) as count,
        count(distinct f.payee_id) as payees,
        string_agg(
            concat(
                jobs.prefixed(f.item::text),
                jobs.prefixed(f.money_version::text),
                jobs.prefixed(coalesce(f.business_key, '')),
                jobs.prefixed(f.title),
                jobs.prefixed(f.amount_minor::text),
                jobs.prefixed(f.currency),
                jobs.prefixed(%(exponents)s::jsonb ->> f.currency),
                jobs.prefixed(f.payee_id),
                jobs.prefixed(f.payee_name),
                jobs.prefixed(right(f.account, 4)),
                jobs.prefixed(f.account_mark)
            ),
            ''
            order by f.item
        ) as texts
    from frozen as f
)

update jobs.plans as p
set
    edition = p.edition + %(raised)s,
    frozen_at = %(now)s,
    valid_until = %(until)s,
    count = b.count,
    payees = b.payees,
    totals = t.totals,
    largest = l.largest,
    excluded = e.excluded,
    version = p.version + %(raised)s,
    digest = sha256(
        convert_to(
            concat(
                'jobs.plan.1',
                jobs.prefixed(p.tenant),
                jobs.prefixed(p.id::text),
                jobs.prefixed(p.owner),
                jobs.prefixed(p.command),
                jobs.prefixed(p.use_case),
                jobs.prefixed(p.use_case_version::text),
                jobs.prefixed((extract(epoch from %(now)s::timestamptz) * 1000000)::bigint::text),
                jobs.prefixed(a.names::text),
                a.texts,
                jobs.prefixed(b.count::text),
                jobs.prefixed(t.currencies::text),
                t.texts,
                b.texts
            ),
            'UTF8'
        )
    )
from totals as t
cross join largest as l
cross join left_out as e
cross join parameters as a
cross join bodies as b
where p.id = %(plan)s::uuid and p.tenant = %(tenant)s
returning p.version
