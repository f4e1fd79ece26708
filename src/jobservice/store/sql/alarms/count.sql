-- Keeps how many alarms are open, by kind, and how many of them nobody looks after, for the metrics.
insert into jobs.figures (name, value, counted_at)
select
    g.name,
    g.value,
    jobs.now() as counted_at
from jsonb_to_recordset(%(rows)s) as g (name text, value bigint)
on conflict (name) do update set value = excluded.value, counted_at = excluded.counted_at
