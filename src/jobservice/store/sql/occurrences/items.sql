-- A page of the items of a run, with one row more than asked for where there is more: what failed or is uncertain (kind
-- 0), then what has no outcome (1), then the rest (2), each by number. Each kind is looked at only as far as the ones
-- before left room.
with failed as materialized (
    select
        0 as kind,
        i.number
    from jobs.occurrence_items as i
    where
        %(kind)s::integer <= 0
        and i.tenant = %(tenant)s
        and i.occurrence = %(occurrence)s::uuid
        and i.outcome in ('failed', 'uncertain')
        and (%(kind)s::integer < 0 or i.number > %(number)s::bigint)
    order by i.number
    limit %(most)s + 1
),

open as materialized (
    select
        1 as kind,
        i.number
    from jobs.occurrence_items as i
    where
        %(kind)s::integer <= 1
        and i.tenant = %(tenant)s
        and i.occurrence = %(occurrence)s::uuid
        and i.outcome is null
        and (%(kind)s::integer < 1 or i.number > %(number)s::bigint)
    order by i.number
    limit %(most)s + 1 - (select count(*) from failed)
),

rest as (
    select i.number
    from jobs.occurrence_items as i
    where
        i.tenant = %(tenant)s
        and i.occurrence = %(occurrence)s::uuid
        and i.outcome in ('done', 'refused')
        and (%(kind)s::integer < 2 or i.number > %(number)s::bigint)
    order by i.number
    limit %(most)s + 1
),

settled as materialized (
    select
        2 as kind,
        r.number
    from rest as r
    order by r.number
    limit %(most)s + 1 - (select count(*) from failed) - (select count(*) from open)
),

found as (
    select * from failed
    union all
    select * from open
    union all
    select * from settled
),

-- The planner does not know what the limits above leave: this one tells it.
chosen as (
    select
        f.kind,
        f.number
    from found as f
    order by f.kind, f.number
    limit %(most)s + 1
)

select
    c.kind,
    i.number,
    i.key,
    i.label,
    i.outcome,
    i.attempts,
    i.try_at,
    i.sentence,
    i.ended_at
from chosen as c
inner join jobs.occurrence_items as i
    on i.tenant = %(tenant)s and i.occurrence = %(occurrence)s::uuid and c.number = i.number
order by c.kind, c.number
