-- Names of a person's open plans, newest first; one past its end does not count, whoever has written so or not.
select p.name
from jobs.plans as p
where
    p.tenant = %(tenant)s
    and p.owner = %(owner)s
    and p.state = 'open'
    and p.valid_until > (select jobs.now())
order by p.made_at desc
