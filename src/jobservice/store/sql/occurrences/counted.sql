-- How far the items of one occurrence are by their rows: its own counts stand still until its attempt is settled, and
-- for good where its Worker was lost. What was selected and has no row went well in a batch. No row here: its own
-- counts hold.
with counted as (
    select
        o.done as settled,
        o.done + o.refused + o.failed + o.unfinished as selected,
        i.rows,
        greatest(o.refused, i.refused) as refused,
        greatest(o.failed, i.failed) as failed,
        i.unfinished,
        o.selected_all
    from jobs.occurrences as o
    cross join
        lateral (
            select
                count(*) as rows,
                count(*) filter (where r.outcome = 'refused') as refused,
                count(*) filter (where r.outcome in ('failed', 'uncertain')) as failed,
                count(*) filter (where r.outcome is null) as unfinished
            from jobs.occurrence_items as r
            where r.occurrence = o.id and r.tenant = %(tenant)s
        ) as i
    where
        o.id = %(occurrence)s::uuid
        and o.tenant = %(tenant)s
        and o.state <> 'completed'
)

select
    greatest(c.settled, greatest(c.selected, c.rows) - c.refused - c.failed - c.unfinished) as done,
    c.refused,
    c.failed,
    c.unfinished,
    c.selected_all
from counted as c
where c.rows > 0
