-- Writes, under the duty's lease, that alarms are over. Who was told that one opened is told of its end: after what is
-- being told of it now.
update jobs.alarms as a
set
    cleared_at = jobs.now(),
    version = a.version + 1,
    telling = case when a.told in ('sent', 'given-up') then 'cleared' else a.telling end,
    told = case when a.told in ('sent', 'given-up') then 'waiting' else a.told end,
    tell_at = case when a.told in ('sent', 'given-up') then jobs.now() else a.tell_at end,
    tries = case when a.told in ('sent', 'given-up') then 0 else a.tries end
where
    a.id = any(%(ids)s::uuid[])
    and a.cleared_at is null
    and exists (
        select 1 from jobs.duties as d
        where d.name = %(name)s and d.holder = %(holder)s and d.fence = %(fence)s
    )
returning a.id::text as id, a.tenant, a.kind, a.subject, a.opened_at, a.cleared_at
