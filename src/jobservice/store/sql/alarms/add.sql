-- Opens alarms under the duty's lease, where the same one is not open. `tells`: somebody is to be told.
insert into jobs.alarms (tenant, kind, subject, schedule, sentence, count, telling, told, tell_at)
select
    g.tenant,
    g.kind,
    g.subject,
    g.schedule,
    g.sentence,
    g.count,
    case when %(tells)s then 'opened' end as telling,
    case when %(tells)s then 'waiting' else 'nobody' end as told,
    case when %(tells)s then jobs.now() end as tell_at
from
    jsonb_to_recordset(%(rows)s)
        as g (tenant text, kind text, subject text, schedule text, sentence text, count bigint)
where
    exists (
        select 1 from jobs.duties as d
        where d.name = %(name)s and d.holder = %(holder)s and d.fence = %(fence)s
    )
on conflict (tenant, kind, subject) where cleared_at is null do nothing
returning id::text as id, tenant, kind, subject, schedule, sentence, count
