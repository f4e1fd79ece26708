-- Keeps that the example's content is in; it is never put in twice.
insert into jobs.marks (name, value) values ('seeded', 'by jobservice dev')
on conflict (name) do nothing
