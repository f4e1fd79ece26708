-- Keeps how many dead letters retention removes within a day, for the metrics.
insert into jobs.figures (name, value, counted_at)
values ('dead-letters-leaving', %(value)s, jobs.now())
on conflict (name) do update set value = excluded.value, counted_at = excluded.counted_at
