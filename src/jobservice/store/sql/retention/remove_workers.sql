-- Removes the rows of Workers that ended, or were not heard of, long ago.
delete from jobs.workers
where
    beat_at <= jobs.now() - make_interval(secs => %(kept)s)
    and exists (
        select 1 from jobs.duties as d
        where d.name = %(name)s and d.holder = %(holder)s and d.fence = %(fence)s
    )
