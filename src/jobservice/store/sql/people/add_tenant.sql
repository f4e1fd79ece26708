-- Adds a tenant; no row back where the id was there before.
insert into jobs.tenants (id, name) values (%(id)s, %(name)s)
on conflict (id) do nothing
returning id
