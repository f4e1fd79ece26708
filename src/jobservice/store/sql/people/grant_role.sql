-- What a person is in a tenant; replaces what they were there before.
insert into jobs.memberships (person, tenant, role, customers, workspaces)
values (%(person)s, %(in_tenant)s, %(role)s, %(customers)s, %(workspaces)s)
on conflict (person, tenant) do update
    set role = excluded.role, customers = excluded.customers, workspaces = excluded.workspaces, granted_at = jobs.now()
