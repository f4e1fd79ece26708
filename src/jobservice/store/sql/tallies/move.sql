-- Keeps up to when all that ended is in the tallies.
insert into jobs.figures (name, value, counted_at)
values ('tallied-until', extract(epoch from %(now)s::timestamptz)::bigint, %(now)s)
on conflict (name) do update set value = excluded.value, counted_at = excluded.counted_at
