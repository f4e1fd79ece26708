-- Ends a person's access; what they did stays theirs.
update jobs.people set active = false
where id = %(person)s
