-- The Worker of that incarnation, or the beginning of one. Workers are no tenant's.
select
    'incarnation' as matched,
    w.incarnation::text as id,
    w.host,
    case when w.stopped_at is null then 'at work' else 'stopped' end as state,
    w.started_at as at
from jobs.workers as w
where w.incarnation >= %(first)s::uuid and w.incarnation <= %(last)s::uuid
order by w.started_at desc
limit %(most)s
