-- What became of the jobs that a recovery asked to be cancelled and whose rows still run, each row locked.
select
    w.key,
    j.status,
    j.settled_at
from jobs.recovery_rows as w
left join jobs.jobs as j on w.job = j.id and j.tenant = %(tenant)s
where w.tenant = %(tenant)s and w.recovery = %(recovery)s::uuid and w.turn = 'running'
order by w.number
for update of w
