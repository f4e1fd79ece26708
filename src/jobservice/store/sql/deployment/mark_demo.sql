-- Marks the database as a demo's, for ever.
insert into jobs.marks (name, value) values ('demo', 'made by jobservice dev')
on conflict (name) do nothing
