-- Keeps, under the duty's lease, that open alarms were found again; the version rises where people see a difference.
update jobs.alarms as a
set
    seen_at = jobs.now(),
    count = g.count,
    sentence = g.sentence,
    version = a.version + case when (a.count, a.sentence) is distinct from (g.count, g.sentence) then 1 else 0 end
from jsonb_to_recordset(%(rows)s) as g (id uuid, sentence text, count bigint)
where
    a.id = g.id
    and a.cleared_at is null
    and exists (
        select 1 from jobs.duties as d
        where d.name = %(name)s and d.holder = %(holder)s and d.fence = %(fence)s
    )
