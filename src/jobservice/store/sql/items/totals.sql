-- What waits in a queue: counts, and sums per currency with what goes out and what comes back apart, never added.
with clock as (
    select jobs.now() as now
),

unfinished as (
    select
        i.amount_minor,
        i.currency,
        i.created,
        coalesce(i.set_aside_until > c.now, false) as set_aside,
        case when i.expires_at > c.now then i.holder end as holder
    from jobs.items as i
    cross join clock as c
    where
        i.tenant = %(tenant)s
        and i.queue = %(queue)s
        and i.closed_at is null
        and jobs.in_reach(i, %(customers)s::text[], %(workspaces)s::text[])
),

sums as (
    select
        u.currency,
        coalesce(sum(u.amount_minor) filter (where u.amount_minor >= 0), 0) as out_minor,
        count(*) filter (where u.amount_minor >= 0) as out_count,
        coalesce(-sum(u.amount_minor) filter (where u.amount_minor < 0), 0) as back_minor,
        count(*) filter (where u.amount_minor < 0) as back_count
    from unfinished as u
    where not u.set_aside and u.currency is not null
    group by u.currency
)

select
    count(*) filter (where not u.set_aside) as waiting,
    count(*) filter (where u.holder = %(person)s) as mine,
    count(*) filter (where u.set_aside) as set_aside,
    count(*) filter (where not u.set_aside and u.holder is null) as unclaimed,
    min(u.created) filter (where not u.set_aside) as oldest_created,
    (select c.now from clock as c) as as_of,
    coalesce(
        (
            select
                json_agg(
                    json_build_object(
                        'currency', s.currency,
                        'exponent', (%(exponents)s::jsonb -> s.currency),
                        'out_minor', s.out_minor,
                        'out_count', s.out_count,
                        'back_minor', s.back_minor,
                        'back_count', s.back_count
                    )
                    order by s.out_count + s.back_count desc, s.currency
                )
            from sums as s
        ),
        '[]'::json
    ) as totals
from unfinished as u
