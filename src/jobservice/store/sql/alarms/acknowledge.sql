-- Writes who looks after an open alarm that is locked, and what they do. Who was told that it opened is told of this.
update jobs.alarms as a
set
    acknowledged_at = jobs.now(),
    acknowledged_by = %(by)s,
    note = %(note)s,
    version = a.version + 1,
    telling = case when a.told in ('sent', 'given-up') and a.telling = 'opened' then 'acknowledged' else a.telling end,
    told = case when a.told in ('sent', 'given-up') and a.telling = 'opened' then 'waiting' else a.told end,
    tell_at = case when a.told in ('sent', 'given-up') and a.telling = 'opened' then jobs.now() else a.tell_at end,
    tries = case when a.told in ('sent', 'given-up') and a.telling = 'opened' then 0 else a.tries end
where a.tenant = %(tenant)s and a.id = %(id)s::uuid and a.version = %(version)s and a.cleared_at is null
returning a.version
