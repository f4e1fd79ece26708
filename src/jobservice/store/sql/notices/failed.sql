-- Keeps why an attempt at a notice failed, and whether it was the last.
update jobs.notices as n
set
    failure = %(failure)s,
    given_up_at = case when %(last)s then jobs.now() end
where n.id = %(id)s and n.attempts = %(attempts)s and n.sent_at is null
