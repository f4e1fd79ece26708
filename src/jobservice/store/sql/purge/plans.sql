-- Plans that ended before an instant, from behind a place on; `sent`: something of it was sent, released, or is
-- evidence, so that it stays whole.
select
    p.id,
    p.tenant,
    p.ended_at,
    p.count,
    exists (
        select 1
        from jobs.plan_items as i
        where
            i.plan = p.id
            and (
                i.outward_key is not null
                or i.sent_at is not null
                or i.turn in ('running', 'uncertain')
                or exists (
                    select 1
                    from jobs.plan_evidence as e
                    where e.item = i.item and e.plan = i.plan
                )
            )
    )
    or exists (
        select 1
        from jobs.outgoings as g
        where g.plan = p.id and (g.gross_minor > 0 or g.count > 0)
    )
    or exists (
        select 1
        from jobs.items as i
        where i.plan = p.id
    ) as sent
from jobs.plans as p
where
    p.ended_at is not null
    and p.ended_at < %(past)s
    and (p.ended_at, p.id) > (%(after_at)s, %(after)s)
    and p.state in ('done', 'aborted', 'lapsed', 'dropped', 'voided', 'expired')
    and (p.confirmed_at is null or p.accounted_at is not null)
order by p.ended_at, p.id
limit %(most)s
