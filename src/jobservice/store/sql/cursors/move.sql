-- Moves a cursor from where this run read it, in the transaction of the item that it moves behind; no row where another
-- run moved it meanwhile.
insert into jobs.cursors as c (tenant, name, position, occurrence, fence)
select
    %(tenant)s,
    %(name)s,
    %(position)s,
    %(occurrence)s,
    %(held_fence)s
where
    %(was)s::text is null
    or exists (
        select 1
        from jobs.cursors as r
        where r.tenant = %(tenant)s and r.name = %(name)s and r.position = %(was)s
    )
on conflict (tenant, name) do update
    set
        position = excluded.position,
        occurrence = excluded.occurrence,
        fence = excluded.fence,
        moved_at = jobs.now(),
        version = c.version + 1
    where c.position = %(was)s
