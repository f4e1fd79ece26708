-- Leases the duty, whose row is locked, with a raised fence.
update jobs.duties
set holder = %(holder)s, expires_at = jobs.now() + make_interval(secs => %(lease)s), fence = fence + 1
where name = %(name)s and fence = %(fence)s
returning fence
