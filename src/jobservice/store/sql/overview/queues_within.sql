-- What waits in each of these queues within a person's reach, which is not the whole tenant: how much, since when, what
-- nobody has claimed, and the money of it that is to go out, by currency. Looks at no more than one row past `most` of
-- each queue, the oldest, and tells how many it looked at; where there are more, each figure is at least so much.
select
    w.queue,
    g.looked,
    g.open,
    g.unclaimed,
    g.oldest_at,
    g.unclaimed_out
from unnest(%(queues)s::text[]) as w (queue)
cross join
    lateral ( -- noqa: ST05
        select
            coalesce(sum(s.looked), 0)::bigint as looked,
            coalesce(sum(s.open), 0)::bigint as open,
            coalesce(sum(s.unclaimed), 0)::bigint as unclaimed,
            min(s.oldest_at) as oldest_at,
            coalesce(
                json_agg(json_build_object('currency', s.currency, 'minor', s.out_minor) order by s.currency)
                filter (where s.out_minor > 0),
                '[]'::json
            ) as unclaimed_out
        from (
            select
                l.currency,
                count(*) as looked,
                count(*) filter (where l.waits) as open,
                count(*) filter (where l.waits and l.free) as unclaimed,
                min(l.created) filter (where l.waits) as oldest_at,
                coalesce(sum(l.amount_minor) filter (where l.waits and l.free and l.amount_minor > 0), 0) as out_minor
            from (
                select
                    i.amount_minor,
                    i.currency,
                    i.created,
                    coalesce(
                        jobs.in_view(i, 'waiting', %(now)s)
                        and jobs.in_reach(i, %(customers)s::text[], %(workspaces)s::text[]),
                        false
                    ) as waits,
                    i.holder is null or i.expires_at <= %(now)s as free
                from jobs.items as i
                where i.tenant = %(tenant)s and i.queue = w.queue and i.closed_at is null
                order by i.tenant, i.queue, i.created
                limit %(most)s + 1
            ) as l
            group by l.currency
        ) as s
    ) as g
order by w.queue
