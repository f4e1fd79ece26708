-- Makes the row of a duty that no Worker had before.
insert into jobs.duties (name) values (%(name)s) on conflict (name) do nothing
