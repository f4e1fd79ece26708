-- Removes one batch of the items of these occurrences.
delete from jobs.occurrence_items
where
    (occurrence, key) in (
        select
            i.occurrence,
            i.key
        from jobs.occurrence_items as i
        where i.occurrence = any(%(occurrences)s)
        order by i.occurrence, i.key
        limit %(batch)s
    )
    and exists (
        select 1 from jobs.duties as d
        where d.name = %(name)s and d.holder = %(holder)s and d.fence = %(fence)s
    )
