-- What waits in a queue and matches a filter: counts, and sums per currency with what goes out and what comes back
-- apart, never added. Looks at no more than one row past `most` (null: at all), and tells how many it looked at; which
-- rows these are is of no matter, for where there are more the figures are not used.
with looked as (
    select
        i.amount_minor,
        i.currency,
        i.created,
        jobs.in_view(i, %(view)s, %(now)s) as in_view,
        jobs.in_view(i, 'waiting', %(now)s) as waiting,
        jobs.in_view(i, 'set-aside', %(now)s) as set_aside,
        i.holder is null or i.expires_at <= %(now)s as free,
        coalesce(
            jobs.in_reach(i, %(customers)s::text[], %(workspaces)s::text[])
            and jobs.matches(i, %(filter)s::jsonb, %(now)s),
            false
        ) as matching
    from jobs.items as i
    where
        i.tenant = %(tenant)s
        and i.queue = %(queue)s
        and (i.closed_at is null or %(view)s = 'closed')
    limit %(most)s::bigint + 1 -- noqa: AM09
),

sums as (
    select
        l.currency,
        count(*) as looked,
        count(*) filter (where l.matching and l.in_view) as matching,
        count(*) filter (where l.matching and l.waiting) as waiting,
        count(*) filter (where l.matching and l.set_aside) as set_aside,
        count(*) filter (where l.matching and l.waiting and l.free) as unclaimed,
        min(l.created) filter (where l.matching and l.waiting) as oldest_created,
        coalesce(sum(l.amount_minor) filter (where l.matching and l.in_view and l.amount_minor >= 0), 0) as out_minor,
        count(*) filter (where l.matching and l.in_view and l.amount_minor >= 0) as out_count,
        coalesce(-sum(l.amount_minor) filter (where l.matching and l.in_view and l.amount_minor < 0), 0) as back_minor,
        count(*) filter (where l.matching and l.in_view and l.amount_minor < 0) as back_count
    from looked as l
    group by l.currency
)

select
    coalesce(sum(s.looked), 0)::bigint as looked,
    coalesce(sum(s.matching), 0)::bigint as matching,
    coalesce(sum(s.waiting), 0)::bigint as waiting,
    coalesce(sum(s.set_aside), 0)::bigint as set_aside,
    coalesce(sum(s.unclaimed), 0)::bigint as unclaimed,
    min(s.oldest_created) as oldest_created,
    coalesce(
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
        ) filter (where s.out_count + s.back_count > 0),
        '[]'::json
    ) as totals
from sums as s
