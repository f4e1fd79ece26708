-- Locks the duty's row for a unit of work under its lease; no row where the lease is another one's by now.
select expires_at from jobs.duties
where name = %(name)s and holder = %(holder)s and fence = %(fence)s
for update
