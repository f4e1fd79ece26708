-- Of the locked payouts, those that a confirmed plan holds for a turn to come: that turn is uncertain now, so that no
-- machine pays them again.
with doubted as (
    update jobs.plan_items as t
    set
        turn = 'uncertain',
        ended_at = jobs.now(),
        try_at = null,
        outward_key = coalesce(t.outward_key, 'jc-' || t.item::text),
        sentence = a.sentence,
        reference = a.booking
    from jobs.items as i
    inner join unnest(%(items)s::uuid[], %(sentences)s::text[], %(bookings)s::text[]) as a (item, sentence, booking)
        on i.id = a.item
    where
        t.tenant = %(tenant)s
        and t.item = i.id
        and t.plan = i.plan
        and t.fence = i.fence
        and i.held
        and i.closed_at is null
        and t.turn in ('not-started', 'waiting')
    returning t.item, t.plan, t.fence, i.holder
),

kept as (
    update jobs.items as i
    set expires_at = timestamptz '9999-12-31 00:00:00+00', row_version = i.row_version + 1
    from doubted as d
    where i.id = d.item and i.tenant = %(tenant)s and i.holder = d.holder and i.fence = d.fence
)

select
    d.item::text as item,
    d.plan::text as plan
from doubted as d
order by d.item
