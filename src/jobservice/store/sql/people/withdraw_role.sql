-- A person is nobody in a tenant any more.
delete from jobs.memberships
where person = %(person)s and tenant = %(in_tenant)s
