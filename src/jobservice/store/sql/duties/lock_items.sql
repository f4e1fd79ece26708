-- Locks those items of a tenant that nobody is just working on; what their claims are is read after the lock.
select id from jobs.items
where tenant = %(tenant)s and id = any(%(items)s) and holder is not null
order by id
for update skip locked
