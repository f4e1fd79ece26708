-- Whether a confirmed recovery retries this job by a row that moves money.
select w.number
from jobs.recovery_rows as w
inner join jobs.recoveries as r on w.recovery = r.id and w.tenant = r.tenant
where
    w.tenant = %(tenant)s
    and w.recovery = %(recovery)s::uuid
    and r.act = 'retry'
    and w.target = 'job'
    and w.moves = 'money'
    and w.key = %(job)s
