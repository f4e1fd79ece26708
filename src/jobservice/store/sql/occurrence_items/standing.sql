-- How far a run got under earlier leases: what was selected, and its items by outcome. No row: the lease is not ours.
-- What has no row and is not done (the one item of a run that is its own, broken off) counts as never selected: what is
-- selected and has no row went well in a batch.
select
    o.position,
    o.selected_all,
    o.done + o.refused + o.failed + case when i.rows > 0 then o.unfinished else 0 end as selected,
    i.rows,
    i.done,
    i.refused,
    i.failed,
    i.uncertain
from jobs.occurrences as o
cross join
    lateral (
        select
            count(*) as rows,
            count(*) filter (where r.outcome = 'done') as done,
            count(*) filter (where r.outcome = 'refused') as refused,
            count(*) filter (where r.outcome = 'failed') as failed,
            count(*) filter (where r.outcome = 'uncertain') as uncertain
        from jobs.occurrence_items as r
        where r.occurrence = o.id and r.tenant = %(tenant)s
    ) as i
where
    o.id = %(occurrence)s
    and o.tenant = %(tenant)s
    and o.state = 'processing'
    and o.holder = %(holder)s
    and o.fence = %(held_fence)s
    and o.expires_at > jobs.now()
