-- Keeps that a notice was delivered.
update jobs.notices as n
set
    sent_at = jobs.now(),
    failure = null
where n.id = %(id)s and n.sent_at is null
