-- Removes one batch of hints past their time and raises the floor over them: who resumes below it must reload. None at
-- or past the oldest open transaction: the floor would pass every position that a reader can have.
with removed as (
    delete from jobs.hints
    where
        id in (
            select h.id from jobs.hints as h
            where
                h.at <= (select jobs.now()) - make_interval(secs => %(keep)s)
                and h.xid < pg_snapshot_xmin(pg_current_snapshot())::text::bigint
            order by h.at
            limit %(batch)s
        )
        and exists (
            select 1 from jobs.duties as d
            where d.name = %(name)s and d.holder = %(holder)s and d.fence = %(fence)s
        )
    returning xid
)

update jobs.hints_floor
set xid = greatest(xid, (select max(r.xid) from removed as r))
where (select count(*) from removed) > 0
returning (select count(*) from removed) as removed
