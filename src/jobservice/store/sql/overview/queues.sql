-- What waits in each of these queues: how much, since when, what nobody has claimed, and the money of it that is to go
-- out, by currency. Counts in an index on amounts alone, looking at no more than one row past `most` of a queue, and
-- takes away what is set aside or claimed, which is little. Where there are more, each figure is at least so much. For
-- a person whose reach is the whole tenant.
with wanted as (
    select u.queue
    from unnest(%(queues)s::text[]) as u (queue)
),

looked as (
    select
        w.queue,
        g.currency,
        count(*) as number,
        coalesce(-sum(g.amount_rank) filter (where g.amount_rank < 0), 0) as out_minor
    from wanted as w
    cross join
        lateral (
            select
                i.currency,
                i.amount_rank
            from jobs.items as i
            where i.tenant = %(tenant)s and i.queue = w.queue and i.closed_at is null
            order by i.tenant, i.queue, i.currency, i.amount_rank
            limit %(most)s + 1
        ) as g
    group by w.queue, g.currency
),

set_aside as (
    select
        i.queue,
        i.currency,
        count(*) as number,
        coalesce(sum(i.amount_minor) filter (where i.amount_minor > 0), 0) as out_minor
    from wanted as w
    inner join jobs.items as i
        on
            i.tenant = %(tenant)s
            and w.queue = i.queue
            and i.closed_at is null
            and i.set_aside_until > %(now)s::timestamptz
    group by i.queue, i.currency
),

held as (
    select
        i.queue,
        i.currency,
        count(*) as number,
        coalesce(sum(i.amount_minor) filter (where i.amount_minor > 0), 0) as out_minor
    from wanted as w
    inner join jobs.items as i
        on
            i.tenant = %(tenant)s
            and w.queue = i.queue
            and i.closed_at is null
            and i.holder is not null
            and i.expires_at > %(now)s::timestamptz
            and (i.set_aside_until is null or i.set_aside_until <= %(now)s::timestamptz)
    group by i.queue, i.currency
),

figures as (
    select
        l.queue,
        l.currency,
        l.number as looked,
        l.number - coalesce(s.number, 0) as open,
        l.number - coalesce(s.number, 0) - coalesce(h.number, 0) as unclaimed,
        greatest(l.out_minor - coalesce(s.out_minor, 0) - coalesce(h.out_minor, 0), 0) as out_minor
    from looked as l
    left join set_aside as s on l.queue = s.queue and l.currency is not distinct from s.currency
    left join held as h on l.queue = h.queue and l.currency is not distinct from h.currency
),

summed as (
    select
        f.queue,
        sum(f.looked)::bigint as looked,
        sum(f.open)::bigint as open,
        sum(f.unclaimed)::bigint as unclaimed,
        json_agg(json_build_object('currency', f.currency, 'minor', f.out_minor) order by f.currency)
        filter (where f.out_minor > 0) as unclaimed_out
    from figures as f
    group by f.queue
)

select
    w.queue,
    coalesce(s.looked, 0) as looked,
    greatest(coalesce(s.open, 0), 0) as open,
    greatest(coalesce(s.unclaimed, 0), 0) as unclaimed,
    o.created as oldest_at,
    coalesce(s.unclaimed_out, '[]'::json) as unclaimed_out
from wanted as w
left join summed as s on w.queue = s.queue
left join lateral (
    select i.created
    from jobs.items as i
    where
        i.tenant = %(tenant)s
        and i.queue = w.queue
        and i.closed_at is null
        and (i.set_aside_until is null or i.set_aside_until <= %(now)s::timestamptz)
    order by i.tenant, i.queue, i.created
    limit 1
) as o on true
order by w.queue
