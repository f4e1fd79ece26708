-- From now on money may move in this database: it was compared with the outside world.
insert into jobs.marks (name, value) values ('money-identity', jobs.identity())
on conflict (name) do update set value = excluded.value
