-- Adds a person; no row back where the id was there before.
insert into jobs.people (id, name, contact, demo) values (%(id)s, %(name)s, %(contact)s, %(demo)s)
on conflict (id) do nothing
returning id
