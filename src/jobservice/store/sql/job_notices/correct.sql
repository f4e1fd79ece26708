-- Makes a notice that waits the correction of another outcome that its requester was told before.
update jobs.job_notices as n
set
    corrects = %(corrects)s,
    subject = %(prefix)s || n.subject,
    text = %(line)s || e'\n' || n.text
where
    n.job = %(job)s::uuid
    and n.tenant = %(tenant)s
    and n.outcome = %(outcome)s
    and n.state = 'due'
